"""report.html: Snakemake's own report of the run, made by the run itself once it is through.

Needs   reports/<scale>/, complete
Writes  reports/<scale>/report.html
"""

import subprocess


def report_command(html):
    """`snakemake --report` with this run's configuration."""
    given = workflow.config_settings.overwrite_config
    settings = [f"{key}={json.dumps(value)}" for key, value in given.items()]
    return [
        *(sys.executable, "-m", "snakemake", "--cores", "1", "--nolock", "--report", html),
        *(("--config", *settings) if settings else ()),
    ]


def write_report_html():
    """Write report.html when it is older than a file that it shows, and all of them are there."""
    html = f"reports/{SCALE}/report.html"
    if not all(os.path.exists(file) for file in REPORT_FILES):
        return  # the run had other targets
    newest = max(os.path.getmtime(file) for file in REPORT_FILES)
    if os.path.exists(html) and os.path.getmtime(html) >= newest:
        return
    partial = f"reports/{SCALE}/.report.html"  # --report asks for the ending
    # A profile says where jobs run; this runs none.
    environment = {key: value for key, value in os.environ.items() if key != "SNAKEMAKE_PROFILE"}
    command = report_command(partial)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        sys.exit(f"aiayn: {html} was not made: {last} (command: {shlex.join(command)})")
    os.replace(partial, html)
    print(f"Report: {html}", file=sys.stderr)
