"""The Python package: what it gives is what the program prints, and what it raises is what the program says."""

import json
import unittest

from python_support import PROGRAM, InAFolder, require

require("farandole")

import farandole

SCENARIO = {
    "name": "small",
    "workload": {"model": "resnet18", "batch_per_rank": 32},
    "platform": {"topology": "roce25-4xp100", "ranks": 8},
    "strategy": {"kind": "horovod", "version": "0.19.0"},
    "measure": {"iterations": 3, "warmup": 1, "fidelity": "message"},
}


class Package(InAFolder):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "small.json"
        self.path.write_text(json.dumps(SCENARIO))

    def printed(self, *arguments):
        return json.loads(self.farandole(*arguments, "--format", "json"))

    def refused(self, *arguments):
        finished = self.run_command(PROGRAM, *arguments)
        self.assertEqual(finished.returncode, 2)
        return finished.stderr.rstrip("\n")

    def test_a_run_gives_the_points_and_settings_that_the_program_prints(self):
        printed = self.printed("run", self.path)
        points = farandole.run(self.path)
        self.assertEqual(points, printed["points"])
        self.assertEqual(points.settings, printed["settings"])
        self.assertIsNone(points.question)
        self.assertEqual(farandole.__version__, printed["farandole"])
        self.assertEqual(farandole.run(SCENARIO), points)

    def test_a_study_with_a_question_has_its_answer(self):
        rate = "/platform/override/~1node~1nic~1rate"
        asked = {"ask": "Is 100 Gbit/s faster?", "from": {rate: "25 Gbit/s"}, "to": {rate: "100 Gbit/s"}}
        platform = SCENARIO["platform"] | {"override": {}}
        points = farandole.run(SCENARIO | {"platform": platform, "question": asked, "sweep": {rate: ["25 Gbit/s", "100 Gbit/s"]}})
        self.assertEqual(points.question["ask"], "Is 100 Gbit/s faster?")
        self.assertRegex(points.answer[0], r"100 Gbit/s instead of 25 Gbit/s .* P\(faster\) \d+ %")

    def test_one_process_runs_as_often_as_one_likes_with_the_same_result(self):
        first = farandole.run(SCENARIO)
        table = farandole.collective(topology="ethernet-25g", ranks=8, minbytes="1M", maxbytes="4M", fidelity="message")
        for _ in range(3):
            self.assertEqual(farandole.run(SCENARIO), first)
            self.assertEqual(farandole.collective(topology="ethernet-25g", ranks=8, minbytes="1M", maxbytes="4M",
                                                  fidelity="message"), table)

    def test_keywords_replace_values_as_set_does(self):
        printed = self.printed("run", self.path, "--set", "/platform/ranks=4", "--set", "/strategy/fusion_threshold=8 MiB",
                               "--fidelity", "all", "--seed", "7")
        self.assertEqual(farandole.run(self.path, platform__ranks=4, **{"/strategy/fusion_threshold": "8 MiB"},
                                       fidelity="all", seed=7), printed["points"])
        self.assertEqual(farandole.run(self.path, fidelity="all", seed=7,
                                       **{"platform.ranks": 4, "strategy.fusion_threshold": "8 MiB"}), printed["points"])

    def test_a_sweep_gives_every_point_in_order_whatever_the_number_of_jobs(self):
        axes = {"/workload/model": ["resnet18", "vgg11"], "platform__ranks": [1, 4, 8]}
        points = farandole.sweep(self.path, axes, fidelity="analytic", jobs=1)
        self.assertEqual([(point["model"], point["ranks"]) for point in points],
                         [(model, ranks) for model in ("resnet18", "vgg11") for ranks in (1, 4, 8)])
        self.assertEqual(farandole.sweep(SCENARIO, axes, fidelity="analytic", jobs=3), points)

    def test_an_axis_is_whatever_one_can_iterate_over(self):
        listed = farandole.sweep(self.path, {"platform__ranks": [1, 2, 3]}, fidelity="analytic")
        for ranks in (range(1, 4), (1, 2, 3), iter([1, 2, 3])):
            self.assertEqual(farandole.sweep(self.path, {"platform__ranks": ranks}, fidelity="analytic"), listed)
        both = farandole.sweep(self.path, {"zip": {"/platform/ranks": range(1, 4), "/measure/seed": range(3)}}, fidelity="analytic")
        self.assertEqual([point["ranks"] for point in both], [1, 2, 3])

    def test_a_text_is_one_value_of_an_option_that_may_be_repeated(self):
        printed = self.printed("diagnose", self.path, "--measured", "2 s", "--allreduce", "64 MiB in 50 ms")
        self.assertEqual(farandole.diagnose(SCENARIO, measured="2 s", allreduce="64 MiB in 50 ms"), printed)
        self.assertEqual(farandole.diagnose(SCENARIO, measured=("2 s",), allreduce=iter(["64 MiB in 50 ms"])), printed)
        offers = ("lambda-h100-on-demand", "lambda-h100-reserved")
        words = [word for offer in offers for word in ("--offer", offer)]
        self.assertEqual(farandole.cost(SCENARIO, offer=offers), self.printed("cost", self.path, *words))
        self.assertEqual(farandole.cost(SCENARIO, offer=offers[0]), self.printed("cost", self.path, "--offer", offers[0]))

    def test_a_collective_is_the_program_s_table(self):
        printed = self.printed("collective", "--op", "parameter_server", "--algorithm", "dedicated", "--servers", "1",
                               "--topology", "ethernet-25g", "--ranks", "5", "--minbytes", "1K", "--maxbytes", "1M", "--stepfactor", "4")
        self.assertEqual(farandole.collective("parameter_server", algorithm="dedicated", servers=1, topology="ethernet-25g",
                                              ranks=5, minbytes="1K", maxbytes="1M", stepfactor=4), printed["points"])

    def test_a_question_is_answered_as_the_program_answers_it(self):
        several = {"platform__ranks": 16}
        words = ("--set", "/platform/ranks=16")
        self.assertEqual(farandole.network(self.path, set=several, target="80 %"),
                         self.printed("network", self.path, *words, "--target", "80 %"))
        self.assertEqual(farandole.place(self.path, set=several, nodes_per_switch=2, draws=2),
                         self.printed("place", self.path, *words, "--nodes-per-switch", "2", "--draws", "2"))
        self.assertEqual(farandole.tune(self.path, set=several, budget="20 s"),
                         self.printed("tune", self.path, *words, "--budget", "20 s"))
        self.assertEqual(farandole.cost(SCENARIO, price="10 USD/h"), self.printed("cost", self.path, "--price", "10 USD/h"))
        self.assertEqual(farandole.diagnose(SCENARIO, measured=["2 s", "1 s on 2"]),
                         self.printed("diagnose", self.path, "--measured", "2 s", "--measured", "1 s on 2"))
        traces = [self.path.with_name(f"rank{rank}.json") for rank in range(2)]
        for trace in traces:
            self.printed("run", self.path, "--timeline", trace)
        self.assertEqual(farandole.compare(traces[0], self.path), self.printed("compare", traces[0], self.path))
        self.assertEqual(farandole.compare(traces, self.path, set=several),
                         self.printed("compare", traces[0], self.path, *words, "--trace", traces[1]))
        with self.assertRaisesRegex(farandole.InputError, "--draws"):
            farandole.place(SCENARIO, draws=0)

    def test_bad_input_raises_the_line_that_the_program_prints(self):
        self.path.write_text(json.dumps(SCENARIO | {"platform": {"topology": "roce26", "ranks": 8}}, indent=1))
        with self.assertRaises(farandole.InputError) as raised:
            farandole.run(self.path)
        self.assertEqual(str(raised.exception), self.refused("run", self.path))
        self.assertIsInstance(raised.exception, ValueError)
        with self.assertRaisesRegex(farandole.InputError, "^scenario:4: /workload/model: .*did you mean \"resnet18\""):
            farandole.run(SCENARIO | {"workload": {"model": "resnet81"}})
        with self.assertRaises(farandole.InputError) as raised:
            farandole.collective(topology="ethernet-25g", ranks=4, algorithm="rng")
        self.assertEqual(str(raised.exception),
                         self.refused("collective", "--topology", "ethernet-25g", "--ranks", "4", "--algorithm", "rng"))
        with self.assertRaisesRegex(farandole.InputError, "--colour"):
            farandole.collective(topology="ethernet-25g", ranks=4, colour="red")

    def test_after_an_error_all_goes_on(self):
        with self.assertRaises(farandole.InputError):
            farandole.run(SCENARIO, platform__ranks=0)
        self.assertEqual(len(farandole.run(SCENARIO)), 1)

    def test_pandas_takes_the_points(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not here")
        points = farandole.sweep(SCENARIO, {"/platform/ranks": [1, 4]}, fidelity="analytic")
        table = pandas.json_normalize(points)
        self.assertEqual(list(table["ranks"]), [1, 4])
        self.assertIn("breakdown.compute", table.columns)
        self.assertEqual(list(pandas.DataFrame(points)["samples_per_second"]), [point["samples_per_second"] for point in points])

    def test_the_program_s_other_commands_are_there_as_text(self):
        self.assertEqual(farandole.command("show", "models"), self.farandole("show", "models"))


if __name__ == "__main__":
    unittest.main()
