#!/bin/sh
# Print the settings that deploy/compose.yaml asks for: the images by the digests that they have now, and new secrets.
# Needs Docker with buildx and a network. Look at what it prints before you build on it; keep it (chmod 600), and run it again
# to move to newer images.
set -eu
umask 077
pinned() {
    digest=$(docker buildx imagetools inspect "$1" --format '{{.Manifest.Digest}}')
    case "$digest" in sha256:*) echo "$1@$digest" ;; *) echo "no digest of $1 was found" >&2; exit 1 ;; esac
}
secret() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
python_image=$(pinned python:3.11-slim)
postgres_image=$(pinned postgres:17)
echo "PYTHON_IMAGE=$python_image"
echo "POSTGRES_IMAGE=$postgres_image"
echo "POSTGRES_PASSWORD=$(secret)"
echo "PREFECT_API_AUTH_STRING=gpuledger:$(secret)"
