"""What a night writes beside the published version: CSV files, and Iceberg tables where the settings have them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from gpuledger.extract import local_files
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.showing import procurement
from gpuledger.flows.showing.money import DOLLARS
from gpuledger.transform.build.run import tracked_contents
from gpuledger.warehouse import private
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.outputs import csv_files, iceberg_tables, sheet
from gpuledger.warehouse.outputs.iceberg_tables import Target
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader, together

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
    """Where the settings put the Iceberg tables of this directory, with the credentials in the environment."""
    properties = {name: os.environ[variable] for name, variable in _NAMES.items() if os.environ.get(variable)}
    if endpoint := urlsplit(os.environ.get("AZURE_STORAGE_ENDPOINT", "")).netloc:
        scheme = urlsplit(os.environ["AZURE_STORAGE_ENDPOINT"]).scheme
        for service in ("blob", "dfs"):
            properties |= {f"adls.{service}-storage-authority": endpoint, f"adls.{service}-storage-scheme": scheme}
    private.make_folder(data.state)
    own = f"sqlite:///{data.iceberg_catalog.resolve()}"
    return Target(settings.iceberg.rstrip("/"), settings.iceberg_catalog or own, properties)


def after_run(data: DataDir) -> list[Path]:
    """Write the tables and the list of what to buy, all of one version, to the folder of exports; returns their paths.

    Tables that grow every night are written with their newest days only. A file whose table did not change since it was
    written stays as it is.

    Raises OSError if the folder cannot be written, and what `warehouse.read.reader` raises.
    """
    with together(data):
        with reader(data) as con:
            contents = tracked_contents(con)
        written = csv_files.export_recent(data, contents)
        return [*written, sheet.write_csv(procurement.sheet(data, DOLLARS), data.exports)]


def write(context: Context, summary: Summary) -> Summary:
    """Write the CSV files of the published version, and the Iceberg tables if the settings have them.

    A file that cannot be written is only a note in the summary, as the warehouse is published already.
    """
    context.progress.step("export")
    try:
        after_run(context.data)
    except OSError as error:
        folder = error.filename or context.data.exports
        return replace(summary, reason=f"the CSV files could not be written: {folder}: {local_files.why(error)}")
    except WarehouseError as error:
        # An analyst who opens the new version for writing at this moment locks every reader out of it.
        return replace(summary, reason=f"the CSV files could not be written: {error}")
    if context.settings.iceberg:
        try:
            iceberg_tables.publish(context.data, target(context.settings, context.data))
        except (WarehouseError, OSError) as error:
            return replace(summary, reason=str(error))
    return summary
