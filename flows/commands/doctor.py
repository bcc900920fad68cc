"""`gpuledger doctor`: what is wrong with this machine, and what to do."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, format_option
from gpuledger.flows.settings import settings as settings_module


@click.command()
@click.option("--offline", is_flag=True, help="Ask no site for its robots.txt.")
@click.option("--deep", is_flag=True, help="Read every file that is kept, and compare it with its sum.")
@click.option("--sample", is_flag=True, help="Ask the bundled sample site instead of the live ones.")
@data_dir_option
@format_option
def command(offline: bool, deep: bool, sample: bool, data_dir: str | None, form: str) -> int:
    """Check Python, packages, disk, write access, clock, warehouse file, locks, schedule, notifications and robots rules.

    Changes nothing. Exit status: 0 nothing that keeps a run from working, 1 at least one failure.
    """
    from gpuledger.flows.checks.doctor import examine
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.night.start import Request, context_for

    settings = settings_module.load({"data_dir": data_dir})
    context = context_for(settings, settings.data(), "plain", Request(sample=sample))
    checks = list(examine(context, offline=offline, deep=deep))
    rows = [(c.name, c.grade, c.seen, c.action) for c in checks]
    show_rows(["check", "grade", "seen", "what to do"], rows, form)
    return 1 if any(check.grade == "failure" for check in checks) else 0
