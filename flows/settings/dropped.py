"""What earlier versions had and this one has not: commands, options, settings and sources, each with what to use instead.

A command or an option that is gone says so. A setting that is gone, or a source in one, is named in one line, and stops
nothing.
"""

from __future__ import annotations

_PARQUET = "Spark, Trino and DuckDB read the files of `gpuledger export FOLDER --format parquet` as they lie"
_TYPED = "type its figures into transcriptions/, or take them in with `gpuledger measure import`"
_NO_BROWSER = "no browser renders pages: read the shop's product feed (product_feeds), or drop its quotes into inbox/"

#: By the words behind `gpuledger`.
COMMANDS = {
    "quotes template": "`gpuledger quotes sample` prints one, and any table with named columns is read",
    "chart": _TYPED,
    "iceberg": _PARQUET,
    "sources diff": "`gpuledger evidence HASH --print` prints an archived page, and `gpuledger parse` what is read of it",
    "rate": "write rates/rates.csv in the data directory: provider,gpu_name,gpu_count,price,currency,pricing_model,ends_on",
}
#: By the command with the option.
OPTIONS = {
    **dict.fromkeys(
        ("rank --predicted", "value --predicted"), "`gpuledger buy --model M --order speed --limit 0` has all cards"
    ),
    **dict.fromkeys(
        ("watch add --fits", "watch add --value-rank"),
        "`gpuledger buy --model M --save NAME` tells of another pick or price",
    ),
    "export --history": "daily prices and every change are in the files of `--format csv` and `--format parquet`",
    "export --excel": "Excel opens the workbook of `--format xlsx`",
    "model list --added": "`gpuledger model list` has those that you added first, with their day",
    "sources check --all": "name the sources that the setting sources leaves out",
    "measure add --batch-size": "a CSV for `gpuledger measure import` has a column batch_size",
    "predict --how-to-measure": "`gpuledger measure import --help` names the programs whose files are taken in",
    "evidence --open": "`gpuledger evidence HASH --print > page.html`",
    "mcp --http": "an agent starts `gpuledger mcp` itself, from another machine with `ssh HOST gpuledger mcp`",
    "serve --connect": "`prefect server start` says where its UI is, and its login asks for PREFECT_SERVER_API_AUTH_STRING",
}
SETTINGS = {
    **dict.fromkeys(
        ("browser_sources", "browser_hosts", "browser_program", "browser_address", "browser_deadline_s"), _NO_BROWSER
    ),
    "bestbuy_key": "Best Buy lets nobody keep what its interface answers; the source bestbuy reads the shop's pages",
    "notify_blocks": "put the addresses into GPULEDGER_NOTIFY_URLS",
    "ui_port": "`prefect server start --port` sets the port of the UI",
    "iceberg": _PARQUET,
    "iceberg_catalog": _PARQUET,
    "read_charts": _TYPED,
    "store_lease_s": "one machine writes into a store, so there is no lease",
}
_CLOUD = "gpuhunt_catalog reads its prices; rates of your own reservations stand in rates/rates.csv"
#: By the names of sources.
SOURCES = {
    "bestbuy_api": "bestbuy reads the shop's pages", "aws_pricelist": _CLOUD, "azure_retail": _CLOUD,
}  # fmt: skip
