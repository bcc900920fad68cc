#!/bin/sh
# Create the two work pools on the server that PREFECT_API_URL names, and deploy deploy/prefect.yaml there. Run it from the
# project's folder, again after every change; what is there already is updated.
set -eu
: "${PREFECT_API_URL:?name the Prefect server, as in http://prefect-server:4200/api}"
: "${PREFECT_API_AUTH_STRING:?give the credential that the server asks for: one without runs what anybody sends it}"
export CRON="${CRON:-0 3 * * *}" TIME_ZONE="${TIME_ZONE:-UTC}"
prefect work-pool create gpuledger --type process --overwrite
prefect work-pool create gpuledger-read --type process --overwrite
prefect --no-prompt deploy --all --prefect-file deploy/prefect.yaml
