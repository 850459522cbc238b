"""Run the strict comparison under conditions that differ from those of `make test`.

    python tests/robustness.py

Prints one line for each condition. Not part of `make test`: it executes every notebook once for each condition.
Cutting the network and a read-only folder need Linux's `unshare` and `ip`; without them those lines say that they
were left out.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from lessons import NEEDS_WEIGHTS, ROOT, use_own_settings, without_weights

NBVAL = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=120"]
NBVAL += ["-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", "--color=no", "--tb=line"]
NBVAL += [f"--ignore-glob=*{NEEDS_WEIGHTS}"] if without_weights() else []
OWN_NAMESPACES = ["unshare", "--net", "--mount"]
if hasattr(os, "geteuid") and os.geteuid() != 0:
    OWN_NAMESPACES.insert(1, "--map-root-user")
NO_NETWORK = "ip link set lo up && ! ip route get 192.0.2.1 >&2 && "
READ_ONLY = (
    'mount --bind "$FOLDER" "$FOLDER" && mount -o remount,ro,bind "$FOLDER" && ! touch "$FOLDER/x" 2>/dev/null && '
)


def isolated(commands):
    """A shell prefix that runs commands in own namespaces and then what follows it."""
    return [*OWN_NAMESPACES, "sh", "-c", commands + 'exec "$@"', "sh"]


def foreign_locale():
    """A German locale if the machine has one, otherwise only the request for German messages."""
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout if shutil.which("locale") else ""
    names = [name for name in known.split() if name.lower().startswith(("de_", "fr_", "es_", "tr_"))]
    return {"LC_ALL": names[0] if names else "C.UTF-8", "LANGUAGE": "de:fr", "TZ": "Asia/Kathmandu"}


def conditions(copy):
    """Yield (name, environment, working directory, command prefix, notebooks folder)."""
    here, locale = ROOT / "notebooks", foreign_locale()
    yield "as it is", {}, ROOT, [], here
    yield "a second time", {}, ROOT, [], here
    yield "1 thread", {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}, ROOT, [], here
    yield "2 threads", {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}, ROOT, [], here
    yield "from another working directory", {}, Path(tempfile.gettempdir()), [], here
    yield f"locale {locale['LC_ALL']}, another time zone", locale, ROOT, [], here
    yield "no UTF-8 in the locale", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, ROOT, [], here
    yield "without vector instructions", {"ATEN_CPU_CAPABILITY": "default"}, ROOT, [], here
    yield "another hash seed", {"PYTHONHASHSEED": "12345"}, ROOT, [], here
    yield "no network", {}, ROOT, isolated(NO_NETWORK), here
    yield "read-only notebooks folder", {}, ROOT, isolated("ip link set lo up && " + READ_ONLY), copy


def available(prefix):
    """Whether a command prefix can be used on this machine."""
    if not prefix:
        return True
    if not all(map(shutil.which, ("unshare", "ip"))):
        return False
    return subprocess.run([*OWN_NAMESPACES, "true"], capture_output=True).returncode == 0


def check(name, environment, folder, prefix, notebooks):
    """Run nbval under one condition; print a line and return whether it passed."""
    if not available(prefix):
        print(f"left out  {name}: needs the commands unshare and ip and the right to use them", flush=True)
        return True
    variables = os.environ | {"FOLDER": str(notebooks)} | environment
    start = monotonic()
    command = [*prefix, *NBVAL, str(notebooks)]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, errors="replace")
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["no output"]
    good = done.returncode == 0
    print(f"{'passed' if good else 'FAILED':8}  {name}: {lines[-1]} ({monotonic() - start:.0f} s)", flush=True)
    if not good:
        print("\n".join(line for line in lines if line.startswith(("FAILED", "ERROR"))))
    return good


def main():
    """Check all conditions; the exit status is 1 if one of them failed."""
    use_own_settings()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(ROOT / "notebooks", Path(folder) / "notebooks"))
        results = [check(*condition) for condition in conditions(copy)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
