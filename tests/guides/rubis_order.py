"""Measures RUBiS: a schema with a lower predicted cost must use less CPU (docs/advisor.md has the table).

    rubis_order.py SIBYL REPOSITORY

Compares prediction and measurement for each pair of schemas, by the cost model and by the constants that are fitted to the
machine. CPU time is compared, so other load hardly matters. Two schemas whose 95% intervals overlap have no order, but the
interval of the designed schema must not overlap with the others. If they disagree, the measurement is repeated for longer.
"""
import json
import subprocess
import sys

ATTEMPTS = (2, 4, 8)  # seconds of measuring


def measure(binary, repository, seconds):
    done = subprocess.run(
        [binary, "advise", "design", f"{repository}/docs/examples/rubis.cql", "--mix", "bidding", "--measure", "--scale",
         "0.02", "--measure-seconds", str(seconds), "--against", "normalised", "expert", "--format", "json"],
        stdout=subprocess.PIPE, timeout=300, check=True)
    return json.loads(done.stdout)["measurement"]["trials"]


def apart(left, right):
    """Returns True if the intervals of their CPU time do not overlap."""
    gap = abs(left["cpu_us"]["mean"] - right["cpu_us"]["mean"])
    return gap > left["cpu_us"]["margin"] + right["cpu_us"]["margin"]


def complaints(trials):
    out = []
    if [trial["name"] for trial in trials] != ["design", "normalised", "expert"]:
        return [f"unexpected schemas {trials}"]
    for member in ("cost", "expected_cpu_us"):
        for i, left in enumerate(trials):
            for right in trials[i + 1:]:
                predicted = left[member] < right[member]
                measured = left["cpu_us"]["mean"] < right["cpu_us"]["mean"]
                names = f"{left['name']} and {right['name']}"
                if apart(left, right) and predicted != measured:
                    out.append(f"{member}: the order of {names} is not the measured one")
                if i == 0 and not (predicted and measured and apart(left, right)):
                    out.append(f"{member}: the intervals of {names} overlap or are in the wrong order")
    return out


def main(binary, repository):
    for seconds in ATTEMPTS:
        trials = measure(binary, repository, seconds)
        for trial in trials:
            print(f"{trial['name']:>12}: cost {trial['cost']:.3f}, expected {trial['expected_cpu_us']:.0f} us, "
                  f"measured {trial['cpu_us']['mean']:.0f} us ± {trial['cpu_us']['margin']:.0f}")
        found = complaints(trials)
        if not found:
            return 0
        print("\n".join(found))
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
