"""Where the Iceberg tables of a data directory lie, by the settings, and the credentials for them, from the environment."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from gpuledger.flows.settings.settings import Settings
from gpuledger.warehouse import private
from gpuledger.warehouse.outputs.iceberg_tables import Target
from gpuledger.warehouse.paths import DataDir

#: The usual environment variables of a store, by the property that pyiceberg reads.
_NAMES = {
    "s3.endpoint": "AWS_ENDPOINT_URL",
    "s3.access-key-id": "AWS_ACCESS_KEY_ID",
    "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY",
    "s3.session-token": "AWS_SESSION_TOKEN",
    "s3.region": "AWS_REGION",
    "adls.account-name": "AZURE_STORAGE_ACCOUNT_NAME",
    "adls.account-key": "AZURE_STORAGE_ACCOUNT_KEY",
    "adls.sas-token": "AZURE_STORAGE_SAS_TOKEN",
    "adls.tenant-id": "AZURE_TENANT_ID",
    "adls.client-id": "AZURE_CLIENT_ID",
    "adls.client-secret": "AZURE_CLIENT_SECRET",
}


def target(settings: Settings, data: DataDir) -> Target:
    """Where the settings put the Iceberg tables of this directory."""
    properties = {name: os.environ[variable] for name, variable in _NAMES.items() if os.environ.get(variable)}
    if endpoint := urlsplit(os.environ.get("AZURE_STORAGE_ENDPOINT", "")).netloc:
        scheme = urlsplit(os.environ["AZURE_STORAGE_ENDPOINT"]).scheme
        for service in ("blob", "dfs"):
            properties |= {f"adls.{service}-storage-authority": endpoint, f"adls.{service}-storage-scheme": scheme}
    private.make_folder(data.state)
    own = f"sqlite:///{data.iceberg_catalog.resolve()}"
    return Target(settings.iceberg.rstrip("/"), settings.iceberg_catalog or own, properties)
