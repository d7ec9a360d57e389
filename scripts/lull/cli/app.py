# SPDX-License-Identifier: BSD-3-Clause
"""The command line: `lull …`."""

import errno
import io
import os
import signal
import sys
from collections.abc import Sequence

import typer

from lull.cli import (
    bench,
    boot,
    build,
    compare,
    confirm,
    demo,
    doctor,
    energy,
    figures,
    platform,
    plot,
    point,
    run,
    settings,
    show,
    sweep,
    timeline,
    tune,
    what_if,
)
from lull.cli import report as report_page
from lull.errors import UserError
from lull.host.progress import report

app = typer.Typer(
    name="lull",
    help="What a sleeping CPU costs, and what software can do about it.\n\n"
    "Example: lull boot --exec 'nproc; cat /proc/interrupts' --out runs/mine; lull show runs/mine\n\n"
    "Every command has --help with an example. README.md has a tour.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(platform.app, name="platform")
app.add_typer(energy.app, name="energy")
app.add_typer(bench.app, name="bench")
app.command()(build.build)
app.command()(boot.boot)
app.command()(run.run)
app.command()(sweep.sweep)
app.command(hidden=True)(point.point)
app.command()(figures.figures)
app.command()(plot.plot)
app.command()(confirm.confirm)
app.command()(compare.compare)
app.command()(report_page.report)
app.command()(show.show)
app.command()(timeline.timeline)
app.command()(tune.tune)
app.command("what-if")(what_if.what_if)
app.command()(settings.settings)
app.command()(doctor.doctor)
app.command()(demo.demo)


class Interrupted(BaseException):
    """Raised on Ctrl-C instead of KeyboardInterrupt, for which Typer would end the program without a message."""


def main() -> None:
    signal.signal(signal.SIGINT, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a letter that the locale lacks, such as µ, is printed as \xb5
            stream.reconfigure(errors="backslashreplace")
    try:
        _check_text(sys.argv)
        status = app(prog_name="lull", standalone_mode=False) or 0
        sys.stdout.flush()
        sys.exit(status)
    except typer.TyperException as error:
        if error.format_message().startswith("Usage: "):  # a group without a command: the message is its help
            report(error.format_message())
            sys.exit(error.exit_code)
        said = " ".join(error.format_message().split()).rstrip(".")
        report(f"lull: {said}; --help says what there is")
        sys.exit(error.exit_code)
    except typer.Abort:
        report("lull: aborted")
        sys.exit(1)
    except UserError as error:
        report(f"lull: {error}")
        sys.exit(error.exit_status)
    except BrokenPipeError:  # the reader of the output has ended, such as `head`
        _drop_output()
        sys.exit(1)
    except OSError as error:
        if error.filename is None and error.errno == errno.ENOSPC:
            _drop_output()
            report("lull: the output cannot be written, its device is full; write it elsewhere")
            sys.exit(UserError.exit_status)
        if error.filename is None:
            raise
        report(f"lull: {error.filename}: {error.strerror}; mend that and run the command again")
        sys.exit(UserError.exit_status)
    except Interrupted:
        report("lull: interrupted; what was finished is kept")
        sys.exit(130)


def _check_text(words: Sequence[str]) -> None:
    """Raise a UserError if an argument is not UTF-8: the files of the finished run could not be read."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UserError(f"{word}: not UTF-8; rename the file, or write the word in other letters") from None


def _drop_output() -> None:
    """Send further output to /dev/null. Otherwise Python would fail again at its end, when it flushes the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt(_number: int, _frame: object) -> None:
    raise Interrupted("interrupted")


if __name__ == "__main__":
    main()
