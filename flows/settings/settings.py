"""Settings: the defaults here, `gpuledger.toml` of the current folder and of the data directory, the environment
(`GPULEDGER_<NAME>`), and the command's options. Each of these overrides those before it.

An `acting` setting counts only from a place that is the user's own (`_believed`), as a folder may have come with its files.

Every field carries its meaning, so the setting itself is its documentation.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, get_type_hints

import msgspec

from gpuledger import local_files
from gpuledger.extract.archive import files
from gpuledger.flows.settings import dropped
from gpuledger.message import LANGUAGES, Failure, reason_of
from gpuledger.redaction import redact_text
from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption
from gpuledger.transform.gate import Bounds
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.extract.processes.parse_pool import Limits

#: How the environment and the file name the assumptions of sizes, speeds and costs that this machine sets.
ASSUMPTION_PREFIX, ASSUMPTIONS = "GPULEDGER_ASSUMPTION_", "assumptions"


@dataclass(frozen=True, slots=True)
class SetAssumption:
    """One assumption that is set: its value as text, and where it is set."""

    text: str
    place: str


def set_assumptions(table: object, place: str, environment: Mapping[str, str]) -> dict[str, SetAssumption]:
    """The assumptions that are set, by name. `table` is the table of the file at `place`, None if the file has none.

    Raises ImpossibleAssumption, naming the place, if `table` is no table, for an unknown name, or for an impossible value.
    """
    values: dict[str, SetAssumption] = {}
    if table is not None:
        if not isinstance(table, Mapping):
            raise ImpossibleAssumption(
                "{place}: {table} must be a table ([{table}]), not {table2!r}", place=place, table=ASSUMPTIONS,
                table2=table,
            )  # fmt: skip
        values |= {name: SetAssumption(str(value), f"{place} [{ASSUMPTIONS}]") for name, value in table.items()}
    for variable, text in environment.items():
        if variable.startswith(ASSUMPTION_PREFIX):
            values[variable.removeprefix(ASSUMPTION_PREFIX).lower()] = SetAssumption(
                text, f"the environment variable {variable}"
            )
    for name, assumption in values.items():
        try:
            Assumptions().with_text({name: assumption.text})
        except ImpossibleAssumption as error:
            raise ImpossibleAssumption("{place}: {error}", place=assumption.place, error=error) from None
    return values


def texts(values: Mapping[str, SetAssumption]) -> dict[str, str]:
    """The values alone, as `Assumptions.with_text` takes them."""
    return {name: assumption.text for name, assumption in values.items()}


#: The price gate's own defaults.
_GATE = Bounds()
_DATA_DIR = "data"
#: Numbers must be smaller than this. Python takes any size, and no setting needs one so large.
_LARGEST = 10**15
#: Patterns of texts, and what they are in words.
_SIZE = (r"\d+(\.\d+)?\s*([KMGT]i?B|%)", "a size such as 2GB or 500MiB")
_CODE = (r"([A-Za-z]{2})?|[Aa][Ll][Ll]", "a country's code such as us, kr or de, or eu")


def _one_of(*words: str) -> tuple[str, str]:
    return "|".join(words), f"one of {', '.join(filter(None, words))}"


class SettingsError(Failure):
    """A setting is unknown or impossible. The message names the setting, where it was set, and what is possible."""

    status = 2


class _Marks(TypedDict, total=False):
    """What holds of a setting. `in_warehouse`: tables depend on it; core.setting holds those.

    `secret`: it comes only from the environment. It is not in the repr of the settings, as that ends up in logs.
    `acting`: it sends data, or names where a token goes or whose data are shown.
    `only`: the pattern that its text matches, in words too. `least`: the least that a number may be.
    """

    in_warehouse: bool
    secret: bool
    acting: bool
    only: tuple[str, str]
    least: float


def _setting(default: Any, meaning: str, *, unit: str | None = None, **marks: Unpack[_Marks]) -> Any:
    """A field with its meaning."""
    metadata = {**_NO_MARKS, "only": (r"[\s\S]*", ""), "least": 0.0, "meaning": meaning, "unit": unit, **marks}
    shown = not metadata["secret"]
    if isinstance(default, list):
        return field(default_factory=lambda: tuple(default), metadata=metadata, repr=shown)
    return field(default=default, metadata=metadata, repr=shown)


_NO_MARKS = dict.fromkeys(("in_warehouse", "secret", "acting"), False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. A field has the name of the setting in the file; in the environment it is GPULEDGER_ and the name in
    capitals.
    """

    data_dir: str = _setting(_DATA_DIR, "Folder of the warehouse, the archive and the exports")
    store: str = _setting(
        "",
        "Store through which machines that fetch hand over what they read, as s3://bucket/prefix, gs://… or az://…",
        acting=True,
    )
    warehouse: str = _setting(
        "",
        "Publication that the reading commands answer from, https://…; checked, and asked for a newer day once a day",
        acting=True,
    )
    warehouse_keys: tuple[str, ...] = _setting(
        [], "Public keys of its publisher, at most two; without one the key of the first pull counts", acting=True
    )
    publish: str = _setting(
        "",
        "Folder or store (s3://…) to which each night is published, as far as terms allow; empty for none",
        acting=True,
    )
    publish_key: str = _setting("", "Text of the minisign key file that signs it", secret=True)
    publish_password: str = _setting("", "Password of that key, if it has one", secret=True)
    lang: str = _setting(
        "", f"Language of headings, messages and the report: {' or '.join(LANGUAGES)} (empty: of the terminal, else en)",
        only=_one_of("", *LANGUAGES),
    )  # fmt: skip
    contact: str = _setting(
        "", "Address or page at which a site's owner can reach you; part of the User-Agent",
        only=("[ -~]*", "printable ASCII, as it goes into a header"),
    )  # fmt: skip
    sources: tuple[str, ...] = _setting([], "Live sources to read; empty for all that have an address")
    product_urls: tuple[str, ...] = _setting(
        [], "Product pages of any shop, or its sitemap.xml, for the source generic_shop"
    )
    product_feeds: tuple[str, ...] = _setting(
        [], "Product feeds of any shop (RSS, Atom or a table, also as gzip), for the source product_feed"
    )
    result_tables: tuple[str, ...] = _setting(
        [],
        "Tables of results in repositories and discussions, each address with #workload=…&score=…: the source result_tables",
    )
    ebay_client_id: str = _setting("", "Client id of an eBay application, for the source ebay", secret=True)
    ebay_client_secret: str = _setting("", "Its client secret", secret=True)
    ebay_marketplaces: tuple[str, ...] = _setting(
        ["EBAY_US"], "eBay's marketplaces to read: EBAY_US, EBAY_DE, EBAY_GB …"
    )
    hub: str = _setting(
        "https://huggingface.co",
        "Model hub that is asked for a model by name where neither catalogue nor data has it",
        acting=True,
    )
    hub_token: str = _setting("", "Your access token at the model hub, for models that are gated", secret=True)
    ollama: str = _setting(
        "https://registry.ollama.ai", "Library that is asked for an Ollama tag that nobody here knows", acting=True
    )
    offline: bool = _setting(False, "Never ask the model hub or the Ollama library")
    delay_s: float = _setting(1.0, "Pause between two requests to one host", unit="s")
    fetch_deadline_s: float = _setting(30.0, "Longest time that one fetch may take", unit="s", least=0.001)
    max_body_mb: float = _setting(5.0, "Largest page", unit="MB", least=0.001)
    parallel_sources: int = _setting(8, "Sources read at the same time", least=1)
    memory_limit: str = _setting("2GB", "Memory that DuckDB may use", only=_SIZE)
    source_timeout_s: float = _setting(900.0, "Longest time that one source may take in a run", unit="s")
    read_deployment: str = _setting(
        "",
        "Prefect deployment that reads one source, such as read/on-workers: spreads the sources over its workers",
        acting=True,
    )
    sql_timeout_s: float = _setting(60.0, "Longest time that a query of `sql` may take", unit="s")
    sql_memory_limit: str = _setting("1GB", "Memory that a query of `sql` may take", only=_SIZE)
    sql_max_rows: int = _setting(100_000, "Most rows that a query of `sql` may give")
    page_timeout_s: float = _setting(
        2.0, "Longest processor time that one page of up to 1 MB may be parsed; larger ones in proportion", unit="s",
        least=0.001,
    )  # fmt: skip
    page_memory_mb: float = _setting(200.0, "Memory that the parsing of one page may take", unit="MB", least=0.001)
    max_gap_days: float = _setting(
        400.0, "Time between two runs beyond which the machine's clock is doubted and the run refused", unit="d"
    )
    keep_versions: int = _setting(
        5, "Published versions that stay, for readers that are still on one and for looking back", least=2
    )
    keep_days: int = _setting(
        400, "Age beyond which `vacuum` folds the archive into a baseline and forgets a run's account", unit="d"
    )
    cron: str = _setting("0 3 * * *", "When the nightly run starts")
    time_zone: str = _setting("UTC", "Time zone of `cron`, as in the IANA database")
    run_retries: int = _setting(3, "Times that a scheduled run is tried again where nothing could be published")
    run_retry_delay_s: float = _setting(
        600.0, "Wait before such a try; up to half of it is added by chance, so that many machines do not ask at once",
        unit="s",
    )  # fmt: skip
    log_format: str = _setting("text", "text, or json for one JSON object a line", only=_one_of("text", "json"))
    log_level: str = _setting(
        "INFO", "Least severity that `serve` and scheduled runs write down",
        only=_one_of("DEBUG", "INFO", "WARNING", "ERROR"),
    )  # fmt: skip
    notify_urls: tuple[str, ...] = _setting(
        [], "Apprise addresses that are told of failures and watches; the environment alone, as they hold passwords",
        secret=True,
    )  # fmt: skip
    notify_deadline_s: float = _setting(8.0, "Longest time that all notifications of a run may take", unit="s")
    baseline_gpu_id: str = _setting("nvidia-geforce-rtx-3060-12gb", "GPU that ratios are to", in_warehouse=True)
    preferred_claim: str = _setting(
        "own", "Whose figure counts where a card has several: own, published or vendor", in_warehouse=True
    )
    country: str = _setting(
        "", "Your country (ISO 3166: US, KR, DE …), whose market the tables show where `market` is not set", only=_CODE
    )
    market: str = _setting(
        "", "Market whose prices the tables show: us, kr, de …, eu, or all (net of tax); empty for that of `country`",
        in_warehouse=True, only=_CODE,
    )  # fmt: skip
    marketplace_sellers: tuple[str, ...] = _setting(
        [], "Marketplace sellers whose offers count as street prices, as printed", in_warehouse=True
    )
    street_price_max_msrp_ratio: float = _setting(
        3.0, "Street price over launch price beyond which an offer does not count: a placeholder or a scalper's",
        in_warehouse=True,
    )  # fmt: skip
    street_price_min_msrp_ratio: float = _setting(
        0.2, "Street price over launch price below which a new card's offer does not count: a part, a deposit or a slip",
        in_warehouse=True,
    )  # fmt: skip

    gate_max_move: float = _setting(
        _GATE.max_move,
        "Move of one listing's price up in one step, and the same factor down, beyond which it is held until seen again",
    )
    gate_crowd_move: float = _setting(_GATE.crowd_move, "Smaller move that is held where many listings make it at once")
    gate_max_crowd_share: float = _setting(_GATE.max_crowd_share, "Share of a source's listings that makes a crowd")
    gate_min_row_share: float = _setting(
        _GATE.min_row_share, "Rows against the median of the last nights below which absence is doubted"
    )

    #: Set in the table [assumptions]; each has its own meaning (see transform/assumptions.toml).
    assumptions: Assumptions = field(default_factory=Assumptions, metadata=_NO_MARKS)
    #: The assumptions that are set anywhere, by name. The others have their defaults.
    assumptions_given: Mapping[str, SetAssumption] = field(default_factory=dict, metadata=_NO_MARKS, hash=False)

    def data(self) -> DataDir:
        """The data directory. Raises OSError if what an earlier program kept in it cannot be carried over."""
        root = Path(self.data_dir)
        if any((root / name).exists() for name in ("decisions", "watches.toml", "gpus", "models", "workloads")):
            from gpuledger.flows.settings import carried

            carried.take_over(root)
        return DataDir(root, self.store)

    @property
    def hubs(self) -> tuple[str, ...]:
        """The model hub that every night may ask: none if `offline` forbids it. Sources name it in their addresses."""
        return () if self.offline else (self.hub.rstrip("/"),)

    def page_limits(self) -> Limits:
        """Processor time and memory that one page may use while it is parsed, in a night and by hand."""
        from gpuledger.extract.processes.parse_pool import Limits  # commands that only ask parse no page

        return Limits(self.page_timeout_s, int(self.page_memory_mb * 1_000_000))

    def gate_bounds(self) -> Bounds:
        """The price gate's bounds. Bounds that are no setting have their defaults."""
        gate = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name.startswith("gate_")}
        return Bounds(**{name.removeprefix("gate_"): value for name, value in gate.items()})

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):
            value, (pattern, words) = getattr(self, f.name), f.metadata.get("only", ("", ""))
            if isinstance(value, int | float) and not f.metadata["least"] <= value < _LARGEST:
                bounds = f"from {f.metadata['least']:g} to {_LARGEST:,.0f}"
                raise SettingsError(f"{f.name} must be a number {bounds}, not {value!s:.40}")
            if isinstance(value, str) and not re.fullmatch(pattern, value):
                raise SettingsError(f"{f.name} must be {words}, not {value!r}")
        self._check_stores()
        if self.street_price_min_msrp_ratio >= self.street_price_max_msrp_ratio:
            raise SettingsError("street_price_min_msrp_ratio must be below street_price_max_msrp_ratio")

    def _check_stores(self) -> None:
        addresses = {name: address for name in ("store", "warehouse") if (address := getattr(self, name))}
        if "://" in self.publish:  # anything else is a folder
            addresses["publish"] = self.publish
        if not addresses:
            return
        from gpuledger.extract.archive import objects, web  # few machines have one

        for name, address in addresses.items():
            try:
                (web.check if address.startswith("http") and name == "warehouse" else objects.check)(address)
            except objects.BadAddress as error:
                of_web = ", or of a publication: https://host/path" * (
                    name == "warehouse" and "https:" not in str(error)
                )
                raise SettingsError(f"{name}: {error}{of_web}") from None
        if len(self.warehouse_keys) > 2:
            raise SettingsError("warehouse_keys: at most two keys are pinned, so that one can be changed")

    def for_warehouse(self) -> dict[str, tuple[str, str | None, str]]:
        """Value, unit and meaning of the settings that tables depend on."""
        described = {
            f.name: (_text(getattr(self, f.name)), f.metadata["unit"], f.metadata["meaning"])
            for f in dataclasses.fields(self)
            if f.metadata["in_warehouse"]
        }
        return {**described, "market": ((self.market or self.country).lower(), *described["market"][1:])}


def _text(value: Any) -> str:
    return "|".join(value) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Origin:
    """One setting in use; `place` says where `value` comes from. It does not hold the value of a secret."""

    name: str
    value: str
    unit: str | None
    place: str
    meaning: str


#: The environment variable that names the one file of settings. Without it there may be two: `gpuledger.toml` in the
#: current folder, and over it `gpuledger.toml` in the data directory.
FILE_VARIABLE = "GPULEDGER_SETTINGS_FILE"
#: The folder in which `serve` was started, for its runs, which have another current folder. No setting, so no GPULEDGER_.
_FOLDER_VARIABLE = "_GPULEDGER_FOLDER"
_NAME = "gpuledger.toml"
#: The folder that the command which runs names with --data-dir: its settings count whatever part of the command loads them.
NAMED_FOLDER: ContextVar[str | None] = ContextVar("NAMED_FOLDER", default=None)


def file_of(environment: Mapping[str, str] = os.environ) -> Path:
    """The file of settings, which need not exist. Raises SettingsError if the variable names a file that does not exist."""
    file_name = environment.get(FILE_VARIABLE)
    file = Path(environment.get(_FOLDER_VARIABLE, ""), file_name or _NAME)
    if file_name and not file.exists():
        raise SettingsError(f"{FILE_VARIABLE} names {file_name}, which is not there: make it, or unset the variable")
    return file


def hand_on() -> None:
    """Let processes that are started with another current folder find the same files, and believe them no more than this."""
    os.environ.setdefault(_FOLDER_VARIABLE, str(Path.cwd()))


def load(options: Mapping[str, Any], environment: Mapping[str, str] = os.environ, file: Path | None = None) -> Settings:
    """The settings from file (default: those that FILE_VARIABLE tells of), environment and options.

    Options that are None do not count. Raises SettingsError, naming the place, for an unknown name or an impossible value.
    """
    if not options.get("data_dir"):
        options = {**options, "data_dir": NAMED_FOLDER.get()}
    tables = _tables(options, environment, file)
    return _settings(_set_values(options, environment, tables), environment, tables)


def _tables(
    options: Mapping[str, Any], environment: Mapping[str, str], file: Path | None
) -> dict[Path, dict[str, Any]]:
    """The files of settings that exist, as tables; a later one overrides those before it."""
    first = file or file_of(environment)
    tables = {first: _table(first)} if first.exists() else {}
    if named_file := file or environment.get(FILE_VARIABLE):
        return _believed(tables, first if Path(named_file).is_absolute() else None)
    named = options.get("data_dir") or environment.get("GPULEDGER_DATA_DIR")
    own = Path(environment.get(_FOLDER_VARIABLE, ""), named or _DATA_DIR, _NAME)
    # The data directory that the file here names is no better known than the file.
    if own.exists() and (named or "data_dir" not in tables.get(first, {})):
        tables = {path: table for path, table in tables.items() if not path.samefile(own)} | {own: _table(own)}
    is_own = named and Path(named).is_absolute() and own.exists() and files.only_we_write(own)
    return _believed(tables, own if is_own else None)


def _believed(tables: Mapping[Path, dict[str, Any]], own: Path | None) -> dict[Path, dict[str, Any]]:
    """The tables, without acting settings in all but that of the file `own`; IGNORED says which were left out.

    Other files were only found: in the current folder, in a folder below it, or where others can write.
    """
    acting = {f.name for f in dataclasses.fields(Settings) if f.metadata["acting"]}
    believed = {}
    for file, table in tables.items():
        ignored = {} if file == own else {name: table[name] for name in sorted(acting & table.keys())}
        if ignored:
            IGNORED[str(file)] = ignored
        believed[file] = {name: value for name, value in table.items() if name not in ignored}
    return believed


#: The settings that `load` did not take from a file that was only found, with their values, by the name of the file.
IGNORED: dict[str, dict[str, Any]] = {}


def left_out() -> list[str]:
    """A sentence for each file in IGNORED: what does not count, why, and the lines that set it."""
    sentences = []
    for file, ignored in IGNORED.items():
        texts = {name: _text(tuple(value) if isinstance(value, list) else value) for name, value in ignored.items()}
        lines = (f"export GPULEDGER_{name.upper()}={shlex.quote(redact_text(text))}" for name, text in texts.items())
        sentences.append(
            f"{file}: not used: {', '.join(ignored)}. This runs programs or says where data and tokens go, and this "
            f"file was only found. If it is yours: {'; '.join(lines)}. Or name the file in {FILE_VARIABLE}, or its data "
            "directory, by an absolute path; in that directory and above it only you and root may write (chmod go-w)."
        )
    return sentences


#: The settings in use that this version no longer has, each as a sentence with what to use instead.
GONE: dict[str, str] = {}


def _table(file: Path) -> dict[str, Any]:
    try:
        return local_files.read_toml(file, follow=True)
    except (OSError, ValueError) as error:
        reason = local_files.why(error) if isinstance(error, OSError) else error
        raise SettingsError(f"{file}: {reason}") from None


def _settings(
    places: Mapping[str, tuple[Any, str]],
    environment: Mapping[str, str],
    tables: Mapping[Path, Mapping[str, Any]],
) -> Settings:
    set_here: dict[str, SetAssumption] = {}
    try:
        for place, table in (tables or {Path(_NAME): {}}).items():
            set_here |= set_assumptions(table.get(ASSUMPTIONS), str(place), environment)
        assumed = Assumptions().with_text(texts(set_here))
    except ImpossibleAssumption as error:
        raise SettingsError(reason_of(error)) from None
    values = {name: value for name, (value, _) in places.items()}
    if folder := environment.get(_FOLDER_VARIABLE):
        values["data_dir"] = str(
            Path(folder, values.get("data_dir", Settings.__dataclass_fields__["data_dir"].default))
        )
    return Settings(**values, assumptions=assumed, assumptions_given=set_here)


def explain(environment: Mapping[str, str] = os.environ, file: Path | None = None) -> list[Origin]:
    """Every setting with its value, the place where that is set, and its meaning. Raises SettingsError as `load` does."""
    tables = _tables({}, environment, file)
    places = _set_values({}, environment, tables)
    settings = _settings(places, environment, tables)
    rows = []
    for f in dataclasses.fields(settings):
        if f.name.startswith("assumptions"):
            continue
        value = getattr(settings, f.name)
        visible_value = redact_text(_text(value))
        if f.metadata["secret"]:  # only whether it is set, and how many there are of a list; never how long it is
            count = "" if isinstance(value, str) else f"{len(value)} "
            visible_value = f"{count}set, not shown" if value else ""
        place: str = places[f.name][1] if f.name in places else "default"
        rows.append(Origin(f.name, visible_value, f.metadata["unit"], place, f.metadata["meaning"]))
    for item in settings.assumptions.describe():
        set_assumption = settings.assumptions_given.get(item.name)
        place = set_assumption.place if set_assumption else f"default ({item.setting.source})"
        rows.append(Origin(f"assumptions.{item.name}", str(item.value), item.setting.unit, place, item.setting.meaning))
    return rows


def _set_values(
    options: Mapping[str, Any], environment: Mapping[str, str], tables: Mapping[Path, Mapping[str, Any]]
) -> dict[str, tuple[Any, str]]:
    """Value and place of every setting that is set anywhere. A later place overrides an earlier one."""
    values: dict[str, tuple[Any, str]] = {}
    GONE.clear()
    for file, table in tables.items():
        for name, value in table.items():
            if name == ASSUMPTIONS or _is_gone(name, file):
                continue
            # A file ends up in a backup or a repository.
            if any(f.name == name and f.metadata["secret"] for f in dataclasses.fields(Settings)):
                raise SettingsError(
                    f"{file}: {name} is a secret; set it as GPULEDGER_{name.upper()} in the environment"
                )
            values[name] = (_converted(name, value, str(file)), str(file))
    for variable, text in environment.items():
        if variable == FILE_VARIABLE or variable.startswith(ASSUMPTION_PREFIX):
            continue
        if variable.startswith("GPULEDGER_"):
            name = variable.removeprefix("GPULEDGER_").lower()
            place = f"the environment variable {variable}"
            if _is_gone(name, place):
                continue
            values[name] = (_converted(name, text, place), place)
    for name, value in options.items():
        if value is not None:
            values[name] = (_converted(name, value, f"--{name}"), f"--{name}")
    return values


def _is_gone(name: str, place: object) -> bool:
    """Whether an earlier version had this setting and this one has not; GONE then says so."""
    if instead := dropped.SETTINGS.get(name):
        GONE[name] = f"{place}: the setting {name} is gone and does nothing: {instead}"
    return name in dropped.SETTINGS


def _converted(name: str, value: Any, place: str) -> Any:
    known = {name: kind for name, kind in get_type_hints(Settings).items() if not name.startswith("assumptions")}
    if name not in known:
        raise SettingsError(f"{place}: there is no setting {name!r}; known are {', '.join(sorted(known))}")
    kind = known[name]
    if kind is str and not isinstance(value, list | dict):
        return str(value)
    if isinstance(value, str) and kind not in (bool, int, float):
        value = [part for part in value.split("|") if part]
    if name == "sources" and isinstance(value, list):
        gone = [source for source in value if source in dropped.SOURCES]
        for source in gone:
            GONE[source] = f"{place}: the source {source} is gone and is left out: {dropped.SOURCES[source]}"
        # Without a name all sources would be read.
        value = [source for source in value if source not in gone] or value
    try:
        return msgspec.convert(str(value).lower() if kind is bool else value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{place}: {name} cannot be {value!r:.200}: {error!s}") from None
