#!/usr/bin/env python3
"""Worlds of worlds.py, drawn at random, and laws of what the commands that answer questions say of them.

    tests/worlds/questions.py [--program FILE] [--from SEED] [--worlds N] [--seconds S] [--only QUESTION]

A seed asks two of the questions below of its world, and `collective` of a machine. Whatever is refused (status 2) says where, in a line, and prints
nothing else; no answer holds a nan, the text begins with the JSON's answer, pages are written; nothing takes more than 40 s of processor time or
4 GiB. What is printed with its --set is the same by hand; of a sweep the last configuration counts. Besides:
  network      a faster NIC is not less efficient, more efficiency never needs less of it, and a rate clearly below the one named does not reach it
  tune         no row is slower than the scenario or too large, the fastest first, each in less memory, all of as many samples a step
  place        best, expected, worst in this order, and every draw and every --switches between
  diagnose     the predicted step is healthy; a step that a suspect's change gives has that change as the suspect's likeliest
  cost         money follows the price and the years, CO2 the grid's, another currency the rate; energy and hours follow none of them
  compare      a timeline of one's own has ratio 1 in each part
  sweep        the same bytes by one process, by two, by shards that are merged, and after a kill and --resume
  collective   a larger size is not faster, JSON is CSV, --no-fold and our own solver are the same, --fidelity all is each
A broken law is printed with its seed, its commands and its world, then with those of the smallest world found in two minutes that breaks it still;
`collective` asks nothing of the world. The status is 1 then.

Laws are narrower than they sound. A faster NIC may be 5 % less efficient from one step to the next, which is the slack of LL128 in NCCL's model; of
worlds that worlds.NOT_MONOTONE names, neither this nor that a lower rate falls short is asked. At a larger size a library may fall where it changes
its algorithm or protocol, as implemented: by 30 %, by half with MPICH and Open MPI, whose thresholds are fixed; of nccl-*-efa, whose base of LL is
fitted, this is not asked. What is refused for its --budget ends its question.
"""

import argparse
import collections
import contextlib
import copy
import csv
import io
import json
import math
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import worlds

BUDGETS = {"network": "0.3 s, 1 GiB", "tune": "6 s, 1 GiB", "place": "5 s, 1 GiB", "diagnose": "0.5 s, 1 GiB", "cost": "2 s, 1 GiB",
           "compare": "2 s, 1 GiB", "run": "5 s, 1 GiB", "collective": "4 s, 1 GiB"}
FAILURES = re.compile(r"map::|vector::|basic_string|std::|stoi|stod|bad_alloc|what\(\)|(?<![\w.])-?(nan|NaN|inf|Infinity(?! Fabric))(?![\w.])")
RANKS = [2, 2, 3, 4, 5, 7, 8, 8, 12, 16, 16, 24, 32, 33, 48, 64]
QUESTIONS = ["network", "tune", "place", "diagnose", "cost", "compare", "sweep"]


class Unanswered(Exception):
    """What a question needs next was refused: the rest of it is not asked."""


def is_near(one, other, rounding=1e-9):
    return one == other or None not in (one, other) and abs(one - other) <= rounding * max(abs(one), abs(other))


def are_in_order(*values, slack=1e-9):
    """No value is clearly less than the one before it."""
    return all(b >= a * (1 - slack) for a, b in zip(values, values[1:]))


class Questions(worlds.Judge):
    """Of one world: `expect` counts a law, and keeps what breaks it with the commands that were given."""

    def __init__(self, program, seed, world):
        super().__init__(program, seed, world)
        self.drawn, self.lines, self.folder = random.Random(seed), [], program.file.parent
        self.question_of, self.error = {}, ""

    def expect(self, law, holds, what=""):
        self.checks[law] += 1
        if not holds:
            self.broken.setdefault(law, str(what)[:600] + "".join(f"\n    $ {line}" for line in self.lines[-3:]))

    def say(self, command, *options, form="json"):
        """(status, stdout) of a command; Unanswered where it would take more than its budget."""
        self.program.file.write_text(json.dumps(self.world))
        words = [command, *options, *(["--format", form] if form else []), *(["--budget", BUDGETS[command]] if command in BUDGETS else [])]
        self.lines.append(shlex.join(["farandole", *words]))
        done = subprocess.run(["timeout", "300", self.program.path, *words], capture_output=True, text=True, preexec_fn=worlds.limit,
                              check=False, cwd=self.folder)
        status, text, self.error = done.returncode, done.stdout, done.stderr
        self.expect(f"{command} ends", status in (0, 2), f"status {status}: {self.error[-300:]}")
        if status == 2:
            said = [line for line in self.error.splitlines() if not line.startswith(("note:", "warning:"))]
            is_placed = len(said) == 1 and re.search(r"world\.json:|trace\.json:|(?<!\w)--?[a-z]", said[0])
            self.expect(f"{command} refuses in a line", is_placed and not text and not FAILURES.search(self.error), text[:100] + self.error)
        found = FAILURES.search(text)
        self.expect(f"{command} says numbers", not found, found and text[max(0, found.start() - 80):found.end() + 20])
        if status == 2 and "--budget" in self.error:
            raise Unanswered
        return status, text

    def ask(self, command, *options, law=None):
        """The record of an answer, which a text and pages say too; Unanswered where it is refused, which breaks the law."""
        status, text = self.say(command, "world.json", *options)
        if law:
            self.expect(law, status == 0, self.error)
        if status != 0:
            raise Unanswered
        answer, pages = json.loads(text), [self.folder / name for name in ("page.html", "page.md")]
        (self.folder / "answer.json").write_text(text)
        self.expect(f"{command}: its schema", self.say("check", "answer.json", form=None)[0] == 0, self.error)
        for page in pages:
            page.write_text("")
        status, text = self.say(command, "world.json", *options, "--html", "page.html", "--markdown", "page.md", form="table")
        # How far a search that is cut short came is the machine's doing.
        is_same = answer.get("is_cut_short") or text.startswith(answer["answer"] + "\n\n")
        self.expect(f"{command} as a table", status == 0 and is_same, (answer["answer"], text[:300]))
        self.expect(f"{command} as a page", min(page.stat().st_size for page in pages) > 300)
        self.expect(f"{command} as CSV", self.say(command, "world.json", *options, form="csv")[0] == 2)
        return answer

    def by_hand(self, law, changes, seconds=None):
        """The point of the world, of its sweep the last, with what was printed; it takes the time that was printed, if any."""
        if "sweep" in self.world and "/sweep" not in changes:
            changes = {"/sweep": {}, "/workload/batch_per_rank": self.world["sweep"]["/workload/batch_per_rank"][-1]} | changes
        options = [word for pointer, value in changes.items() for word in ("--set", f"{pointer}={json.dumps(value)}")]
        status, text = self.say("run", "world.json", *options)
        if status != 0:
            self.expect(law, False, (changes, self.error))
            raise Unanswered
        point = json.loads(text)["points"][-1]
        self.expect(law, seconds is None or is_near(point["iteration_seconds"], seconds), (changes, seconds, point["iteration_seconds"]))
        return point

    def network(self):
        targets = self.drawn.choice([[], ["--target", "1 %", "--target", "50 %", "--target", "99.9 %"], ["--target", "33.3 %"]])
        answer = self.ask("network", *targets, *self.drawn.choice([[], ["--network-price", "40000 USD"]]))
        rows = answer.get("prices", {}).get("rows", [])
        for row in rows:
            due = 40000 * answer["own"]["nodes"] * row["nics_per_node"] / rows[-1]["nics_per_node"]
            self.expect("network: price", is_near(row["price"], due), rows)
        self.by_hand("network: as it stands", {}, answer["own"]["iteration_seconds"])
        needed = [one["least_nic_bits_per_second"] or math.inf for one in answer["answers"]]
        self.expect("network: more needs more", needed == sorted(needed), needed)
        is_monotone = not any(word in json.dumps(self.world) for word in worlds.NOT_MONOTONE)
        if is_monotone:
            reached = [row["point"]["scaling_efficiency"] for row in answer["rates"]]
            self.expect("network: faster is better", are_in_order(*reached, slack=0.05), reached)
        row = self.drawn.choice([*answer["rates"], *answer["others"]])
        self.by_hand("network: row by hand", row["set"], row["point"]["iteration_seconds"])
        told = [one for one in answer["answers"] if one["least_nic_bits_per_second"]]
        for one in told:
            low, high = (bound or math.inf for bound in one["band"])
            self.expect("network: interval holds the rate", are_in_order(low, one["least_nic_bits_per_second"], high), one)
        if not told:
            return
        one = self.drawn.choice(told)
        reached = self.by_hand("network: rate by hand", one["set"])["scaling_efficiency"]
        self.expect("network: rate reaches it", reached >= one["efficiency"] * (1 - 1e-9), (one, reached))
        if is_monotone and one["least_nic_bits_per_second"] > answer["rates"][0]["nic_bits_per_second"] * 1.001:
            below = copy.deepcopy(one["set"])
            for override in below.values():
                rate = override["/node/nic/rate"]
                override.update({key: f"{float(rate.split()[0]) / 1.03} Gbit/s" for key, value in override.items() if value == rate})
            reached = self.by_hand("network: rate by hand", below)["scaling_efficiency"]
            self.expect("network: less does not", reached < one["efficiency"], (one, below, reached))

    def tune(self):
        answer = self.ask("tune")
        own, rows, base = answer["own"], answer["best"], answer["configuration"]
        steps, sizes = ([row["point"]["iteration_seconds"] for row in rows], [row["point"]["memory"]["total"] for row in rows])
        self.by_hand("tune: as it stands", base, own["iteration_seconds"])
        self.expect("tune: nothing loses", all(step <= own["iteration_seconds"] * (1 + 1e-9) for step in steps), (own["iteration_seconds"], steps))
        self.expect("tune: fastest first", steps == sorted(steps) and all(b <= a * 0.95 for a, b in zip(sizes, sizes[1:])), (steps, sizes))
        most = max(own["memory"]["device"] - own["memory"]["outside"], own["memory"]["total"])
        rows = [*rows, *answer["numbers"]]
        for row in rows:
            point, rate = row["point"], answer["samples_per_step"] / row["point"]["iteration_seconds"]
            self.expect("tune: rows fit", point["memory"]["total"] <= most, (row["set"], point["memory"], most))
            self.expect("tune: samples of a step", is_near(point["samples_per_second"], rate, 1e-6), (row["set"], point["samples_per_second"], rate))
            self.expect("tune: P(faster)", row["p_faster"] is None or 0 <= row["p_faster"] <= 1, row["p_faster"])
        tried = [value for setting in answer["tried"] for value in setting["values"] if value["outcome"] == "ran"]
        for chosen in (rows, tried):
            for one in self.drawn.sample(chosen, min(2, len(chosen))):
                self.by_hand("tune: row by hand", base | one["set"], one.get("point", one)["iteration_seconds"])

    def place(self):
        switches = self.drawn.choice([[], ["--nodes-per-switch", "4"], ["--nodes-per-switch", "2", "--oversubscription", "4"],
                                      ["--nodes-per-switch", "4", "--others", "60 %", "--nodes", "64"]])
        answer = self.ask("place", *switches, "--draws", "5")
        best, worst = (answer[which]["point"]["iteration_seconds"] for which in ("best", "worst"))
        draws = answer["expected"]["draws"]
        between = [one["iteration_seconds"] for one in [answer["expected"], *draws, *(one["expected"] for one in answer["asked"])]]
        self.expect("place: best, expected, worst", all(are_in_order(best, one, worst) for one in between), (best, between, worst))
        for which in ("best", "worst"):
            self.by_hand("place: by hand", answer[which]["set"], answer[which]["point"]["iteration_seconds"])
        one, changes = self.drawn.choice(draws), copy.deepcopy(answer["best"]["set"])
        changes["/platform/placement"]["nodes"] = one["nodes"]
        self.by_hand("place: draw by hand", changes, one["iteration_seconds"])

    def diagnose(self):
        answer = self.ask("diagnose", "--measured", "1 s")
        base, ranks, expected = answer["configuration"], answer["measured"][0]["ranks"], answer["measured"][0]["expected_seconds"]
        self.by_hand("diagnose: as it should be", base, expected)
        healthy = self.ask("diagnose", "--measured", f"{expected:.12f} s", law="diagnose: healthy")
        self.expect("diagnose: healthy", healthy["suspects"][0]["name"] == "healthy" and not healthy["unexplained"], healthy["answer"])
        chance = {one["name"]: one["probability"] for one in healthy["suspects"]}
        self.expect("diagnose: probabilities", abs(sum(chance.values()) - 1) < 1e-9, chance)
        suspects = [one for one in answer["suspects"] if one["name"] != "healthy"]
        if suspects:
            self.planted(base, self.drawn.choice(suspects))
        fewer, more = self.drawn.randint(1, ranks), self.drawn.choice([[], ["--synthetic", "0.9 s"], ["--rule-out", "clocks"]])
        several = self.ask("diagnose", "--measured", f"1 s on {fewer} ranks", *(["--allreduce", "64 MiB in 3 ms"] if ranks > 1 else []), *more)
        self.by_hand("diagnose: fewer ranks", base | {"/platform/ranks": fewer}, several["measured"][0]["expected_seconds"])
        if ranks > 1 and not {"condition", "placement", "traffic"} & self.world["platform"].keys() and "collectives" not in self.world:
            status, text = self.say("collective", "--topology", self.world["platform"]["topology"], "--ranks", str(ranks), "-b", "64M", "-e", "64M")
            said = next(one["expected_seconds"] for one in several["measured"] if one["of"] == "allreduce")
            self.expect("diagnose: allreduce by hand", status != 0 or is_near(json.loads(text)["points"][0]["seconds"], said), (said, text[-800:]))

    def planted(self, base, suspect):
        """A suspect's change is made by hand, and found in the step that it gives."""
        severity, name = self.drawn.choice(suspect["severities"]), suspect["name"]
        seconds = severity["predicted_seconds"][0]
        self.by_hand("diagnose: suspect by hand", base | severity["set"], seconds)
        told = self.ask("diagnose", "--measured", f"{seconds:.12f} s", law="diagnose: planted is found")
        found = next((one["severities"][one["likeliest"]]["predicted_seconds"][0] for one in told["suspects"] if one["name"] == name), None)
        is_found = is_near(found, seconds, 1e-6) and not told["unexplained"]
        self.expect("diagnose: planted is found", is_found, (name, severity["severity"], seconds, found))

    def cost(self):
        price = self.drawn.choice([0.5, 7, 40])
        worlds.put(self.world, "/run", self.drawn.choice([{"samples": 10**6, "epochs": 3}, {"samples": 10**8}]))
        plain = self.ask("cost", "--price", f"{price} USD/h")
        dearer = self.ask("cost", "--price", f"{2 * price} USD/h", "--co2", "872 g/kWh", "--years", "6", law="cost: money by price")
        abroad = self.ask("cost", "--price", f"{price} USD/h", "--exchange", "0.5 EUR/USD", law="cost: another currency")
        other, euros = ({one["offer"]: one for one in answer["offers"]} for answer in (dearer, abroad))
        for a in plain["offers"]:
            b, c, run = other[a["offer"]], euros[a["offer"]], a["run"]
            times, rate = 2 if a["offer"] == "own-price" else 1, 0.5 if a["currency"] == "USD" else 1
            for law, one, of_run, of_years in [("cost: money by price", b, times, 2 * times), ("cost: another currency", c, rate, rate)]:
                costs = one["run"]["cost"], one["years"]["cost"]
                self.expect(law, is_near(costs[0], of_run * run["cost"]) and is_near(costs[1], of_years * a["years"]["cost"]), (a, one))
            self.expect("cost: energy and hours", is_near(run["joules"], b["run"]["joules"]) and run["hours"] == b["run"]["hours"], (a, b))
            self.expect("cost: CO2", run["joules"] is None or is_near(b["run"]["grams_co2"], 2 * run["grams_co2"]), (a, b))
            if "set" in a:
                said = self.by_hand("cost: by hand", a["set"])["economics"]
                self.expect("cost: by hand", is_near(said["cost_per_run"], run["cost"]) and is_near(said["joules_per_run"], run["joules"]), (said, a))

    def compare(self):
        if self.say("run", "world.json", "--timeline", "trace.json")[0] != 0:
            return
        status, text = self.say("compare", "trace.json", "world.json")
        if status == 0:
            parts = [json.loads(text)["step"], *json.loads(text)["parts"]]
            apart = [abs(part["measured_seconds"] - part["predicted_seconds"]) for part in parts]
            self.expect("compare: ratio 1", max(apart) <= 1e-6 * parts[0]["predicted_seconds"], parts)

    def sweep(self):
        study = ["run", "world.json", "--set", '/sweep={"/measure/seed": [3, 4, 5], "/workload/batch_per_rank": [1, 2]}']
        output, journal = self.folder / "cut.json", self.folder / "cut.json.partial"
        for file in (output, journal):
            file.unlink(missing_ok=True)
        status, whole = self.say(*study, "--jobs", "1")
        if status != 0:
            return
        self.expect("sweep: two processes", self.say(*study, "--jobs", "2")[1] == whole)
        for shard in "12":
            self.say(*study, "--shard", f"{shard}/2", "--output", f"shard-{shard}")
        status, _ = self.say("merge", "shard-1", "shard-2", "--output", "merged.json", form=None)
        self.expect("sweep: shards", status == 0 and (self.folder / "merged.json").read_text() == whole)
        words = [self.program.path, *study, "--jobs", "1", "--format", "json", "--output", "cut.json", "--quiet", "--budget", BUDGETS["run"]]
        with subprocess.Popen(words, cwd=self.folder, start_new_session=True, stderr=subprocess.DEVNULL) as running:
            while running.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 2):
                time.sleep(0.001)
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
        if journal.exists():
            if self.drawn.random() < 0.5:  # as where the power went
                journal.write_bytes(journal.read_bytes()[:-self.drawn.choice([1, 7, 40])])
            status, _ = self.say(*study, "--jobs", "2", "--output", "cut.json", "--resume")
            self.expect("sweep: cut and resumed", status == 0 and output.read_text() == whole and not journal.exists())

    def collective(self):
        drawn = self.drawn
        algorithms, topologies = (json.loads(self.say("show", kind)[1])[kind] for kind in ("algorithms", "topologies"))
        is_library = drawn.random() < 0.4
        algorithm = drawn.choice([one for one in algorithms if ("-" in one["name"]) == is_library])
        name, level, factor = algorithm["name"], drawn.choice(["analytic", "flow", "message"]), drawn.choice([2, 4, 16])
        ranks, least = drawn.choice(RANKS[:11] if level == "message" else RANKS), drawn.choice([1, 4, 8, 1000, 1 << 10, 1 << 16, 1 << 20])
        words = ["collective", "--op", algorithm["op"], "--algorithm", name, "--topology", drawn.choice(topologies)["name"],
                 "--ranks", str(ranks), "-b", str(least), "-e", str(least * factor ** drawn.randint(0, 4)), "-f", str(factor)]
        for chance, *option in [(0.3, "--placement", drawn.choice(["by_node", "contiguous", "random", "by_group"])),
                                (0.2, "--root", str(drawn.randrange(ranks))), (0.2, "--segments", drawn.choice(["1", "4", "16"])),
                                (0.2, "--condition", '{"degraded": {"*": "50 %"}}'),
                                (0.1, "--contributions", ",".join(str(drawn.choice([0, 1, 2, 0.5])) for _ in range(ranks)))]:
            words += option if drawn.random() < chance else []
        words += ["--fidelity", level]
        status, text = self.say(*words)
        if status != 0:
            return
        points = json.loads(text)["points"]
        sizes, times = [point["bytes"] for point in points], [point["seconds"] for point in points]
        slack = 1 if "efa" in name else 0.5 if name.startswith(("mpich", "openmpi")) else 0.3 if is_library else 1e-9
        self.expect("collective: larger is slower" + " (libraries)" * is_library, are_in_order(*times, slack=slack), list(zip(sizes, times)))
        bands = [(point.get("band_low") or 0, point.get("band_high") or 0) for point in points]
        self.expect("collective: times", all(0 <= time < 1e5 for time in times) and all(low <= high for low, high in bands), points)
        rows = list(csv.DictReader(io.StringIO(self.say(*words, form="csv")[1])))
        self.expect("collective: CSV", [(int(row["bytes"]), float(row["seconds"])) for row in rows] == list(zip(sizes, times)), rows)
        table = self.say(*words, "--html", "c.html", "--markdown", "c.md", form="table")[1]
        self.expect("collective: table", len(re.findall(r"^ +\d", table, re.MULTILINE)) == len(points), table)
        for law, more, rounding in [("own solver", ["--network", "own"], 1e-6), ("--no-fold", ["--no-fold"], 1e-9)]:
            status, text = self.say(*words, *more)
            others = [point["seconds"] for point in json.loads(text)["points"]] if status == 0 else times
            self.expect(f"collective: {law}", all(is_near(a, b, rounding) for a, b in zip(times, others)), list(zip(times, others)))
        status, text = self.say(*words[:-1], "all")
        same = [point["seconds"] for point in json.loads(text)["points"] if point["fidelity"] == level] if status == 0 else times
        self.expect("collective: all is each", same == times, (same, times))


def judged(program, seed, world, questions):
    """Each question draws by itself: it is the same where it is asked alone."""
    judge = Questions(program, seed, world)
    for question in questions:
        judge.lines, judge.drawn, judge.world = [], random.Random(f"{seed} {question}"), copy.deepcopy(world)
        if question not in ("sweep", "compare", "collective") and judge.drawn.random() < 0.15:
            judge.world["sweep"] = {"/workload/batch_per_rank": [2, 1]}
        with contextlib.suppress(Unanswered):
            getattr(judge, question)()
        for law in judge.broken.keys() - judge.question_of.keys():
            judge.question_of[law] = question
            judge.broken[law] += f"\n    {json.dumps(judge.world)}"
    judge.world = world
    return judge


def shrunk(program, judge, law, seconds=120):
    """How the smallest world found breaks the law."""
    what, began = judge.broken[law], time.monotonic()
    candidates = worlds.smaller(judge.world)
    while time.monotonic() - began < seconds and (candidate := next(candidates, None)):
        again = judged(program, judge.seed, candidate, [judge.question_of[law]])
        if law in again.broken:
            what, candidates = again.broken[law], worlds.smaller(candidate)
    return what


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("FARANDOLE_PROGRAM", str(worlds.ROOT / "build/release/farandole")))
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="SEED")
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so long, whatever is left")
    parser.add_argument("--only", choices=[*QUESTIONS, "collective"], help="ask this question alone")
    asked = parser.parse_args()
    tally = collections.defaultdict(lambda: [0, 0])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        program = worlds.Program(str(pathlib.Path(asked.program).resolve()), folder)
        for seed in range(asked.first, asked.first + asked.worlds):
            if time.monotonic() - began > asked.seconds:
                break
            questions = [asked.only] if asked.only else [*random.Random(seed).sample(QUESTIONS, 2), "collective"]
            judge = judged(program, seed, worlds.draw(seed), questions)
            for law, checks in judge.checks.items():
                tally[law][0] += checks
                tally[law][1] += law in judge.broken
            for law, what in judge.broken.items():
                print(f"seed {seed}: {law}: {what}", flush=True)
                if judge.question_of[law] != "collective":
                    print(f"    made small: {shrunk(program, judge, law)}", flush=True)
    print(f"{'law':<40} {'checks':>8} {'broken':>8}")
    for law, (checks, broken) in sorted(tally.items()):
        print(f"{law:<40} {checks:>8} {broken:>8}")
    if not tally:
        sys.exit("no world was asked")
    sys.exit(any(broken for _, broken in tally.values()))


if __name__ == "__main__":
    main()
