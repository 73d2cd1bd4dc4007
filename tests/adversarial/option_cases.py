"""Every option of every command, as --help lists them, with every bad value; and what files must not be written."""

import os
import re
import subprocess

import documents
from case import ANY, DONE, FAILED, REFUSED, Case
from values import text_of

BAD = ["", " ", "0", "-1", "1", "2", "3", "0.5", "-0", "1e3", "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1" + "0" * 300,
       "65536", "1000000", "100000000", "NaN", "inf", "-inf", "x", "é", "\x1b[31m", "a\nb", "y" * 300, "y" * 5000, "../..", "/", ".", "/dev/null", "/dev/zero", "/nowhere/x", "--help", "-", "--", "\"", "'",
       "$(touch pwned)", "`touch pwned`", "{}", "[]", "{", "null", "=", "=1", "/=", "/x=1", "//=1", "/name=", "/platform/ranks=", "/platform/ranks=0", "/platform/ranks=1e9", "/platform/ranks=\"4\"", "/platform/ranks=[4]",
       "/platform/ranks=-1", "/measure=null", "/=1", "/sweep={}", "/workload/model=../../x", "/platform/topology=.", "/strategy=[]", "1/0", "0/1", "1/1", "2/1", "1/2", "1/2147483648", "-1/2", "1/2/3", "a/b",
       "8", "64K", "1G", "1T", "1.5", "-8", "8 K", "1e3K", "99999999999G", "ring", "rign", "nccl-2.18", "nccl-9.9", "openmpi-4", "mpich", "library", "hierarchical", "double_tree", "by_slot", "random",
       "{\"nodes\": \"random\", \"seed\": -1}", "{\"ranks_per_node\": 0}", "{\"first_node\": 2147483647}", "{\"devices\": [0, 0]}", "1,2,3,4", "1,,2", "1,-1,1,1", "0,0,0,0", "1,1,1,1e308", ",", "nan,1,1,1",
       "10 %", "-10 %", "10", "1e400 %", "NaN %", "sizes", "size", "json", "csv", "table", "svg", "html", "dot", "simgrid", "xml", "horovodrun -np 4 python x", "horovodrun -np 0 x", "horovodrun -np -4 x",
       "horovodrun -np 2147483648 x", "horovodrun", "mpirun -np 4 -x HOROVOD_CYCLE_TIME=nan x", "mpirun -np 4 -npernode 0 x", "mpirun -hostfile h -np 4 x", "aprun -n 4 -N 0 x", "mpirun -np 4 'unclosed",
       "mpirun -H a:1000000000,b:1000000000 -np 2000000000 x", "mpirun -np 4 -H a:-4 x", "horovodrun -np 4 -H localhost:4,, x", "srun -n 4 x", "torchrun --nnodes 2 x.py", "torchrun --nnodes $N x.py", "torchrun --nproc-per-node 99999999999 x.py", "N=4; torchrun --nnodes $((N * N)) x.py",
       "#SBATCH -N 2\nsrun torchrun --nnodes $SLURM_NNODES x.py", "accelerate launch --config_file a.yaml x.py", "accelerate launch --num_processes 2 --use_fsdp x.py", "deepspeed --hostfile h x.py",
       "deepspeed --num_gpus 1 x.py --deepspeed d.json", "torchrun x.py --per_device_train_batch_size -1", "srun -w n[1-99999999] x", "d.json", "a.yaml", "job.sh", "rm -rf /", "28x28x1", "0x0", "1x", "x1", "99999999999x99999999999", "1x-1"]

BASES = {
    "run": ["s.json", "--quiet"],
    "network": ["s.json", "--target", "50 %"],
    "compare": ["t.json", "s.json"],
    "diagnose": ["s.json", "--measured", "1 s"],
    "place": ["s.json", "--draws", "2"],
    "cost": ["s.json", "--price", "10 USD/h"],
    "tune": ["s.json", "--budget", "1 s"],
    "collective": ["--topology", "ethernet-25g", "--ranks", "4", "-b", "1K", "-e", "4K"],
    "show": ["algorithm", "ring"],
    "check": ["s.json"],
    "calibrate": ["p.json", "--topology", "ethernet-25g", "--output", "out.json"],
    "validate": ["p.json", "--topology", "ethernet-25g"],
    "import": ["keras_summary", "k.txt", "--input", "784"],
    "merge": ["shard.json"],
    "doctor": [],
    "new": ["new.json", "--model", "resnet50", "--topology", "ethernet-25g"],
    "bench": ["-b", "1K", "-e", "1K", "-n", "1", "-w", "1"],
}

FILES = {"d.json": b'{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}, "train_micro_batch_size_per_gpu": 2}', "job.sh": b"#SBATCH --nodes=2\nsrun -n 2 python x.py\n",
         "a.yaml": b"distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 4\n",
         "s.json": text_of(documents.SCENARIOS["ddp"]), "p.json": text_of(documents.POINTS), "k.txt": documents.KERAS.encode(), "shard.json": b"no journal\n",
         "t.json": b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "ampere_sgemm_128x64", "ts": 0, "dur": 900, "tid": 7, "pid": 0},'
                   b' {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": 600, "dur": 700, "tid": 20, "pid": 0}]}'}


def options_of(program, command):
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        match = re.match(r"  ((?:-\w,)?--?[\w-]+(?:,--[\w_]+)?)(?: (.*))?", line)
        if match and not match.group(1).endswith("--help") and line.startswith("  -"):
            words = (match.group(2) or "").split("  ")[0].strip()
            yield match.group(1).split(",")[0], words != ""


OPERATIONS = ["allreduce", "broadcast", "allgather", "reduce_scatter", "reduce", "alltoall", "parameter_server", "barrier", "scatter", "gather"]


def option_cases(program):
    for command, base in BASES.items():
        yield Case(f"options/{command}", "as it is", FILES, [command, *base], ANY)
        yield Case(f"options/{command}", "nothing", FILES, [command], ANY)
        yield Case(f"options/{command}", "unknown option", FILES, [command, *base, "--unknown"], REFUSED)
        yield Case(f"options/{command}", "unknown option =", FILES, [command, *base, "--unknown=1"], REFUSED)
        yield Case(f"options/{command}", "one more file", FILES, [command, *base, "more"], REFUSED if command not in ("check",) else ANY)
        for option, takes in options_of(program, command):
            if not takes:
                yield Case(f"options/{command}", f"{option} twice", FILES, [command, *base, option, option], ANY)
                yield Case(f"options/{command}", f"{option}=x", FILES, [command, *base, f"{option}=x"], REFUSED)
                continue
            yield Case(f"options/{command}", f"{option} without value", FILES, [command, *base, option], REFUSED)
            for value in BAD[:12] if option in ("--html", "--markdown") else BAD:  # a page takes seconds
                if command == "bench" and option in ("-n", "-w", "-e", "--nap") and value in ("1000000", "65536", "100000000", "2147483647", "2147483648", "4294967296", "1G", "1T"):
                    continue  # really measures so much
                line = [word for word in base]
                if option in line:
                    at = line.index(option)
                    del line[at: at + 2]
                files = {name: data for name, data in FILES.items()}
                glued = option.startswith("--") and value.startswith("-")
                yield Case(f"options/{command}", f"{option} {value[:40]!r}", files, [command, *line] + ([f"{option}={value}"] if glued else [option, value]), ANY)
        for number in range(len([word for word in base if not word.startswith("-")]) if command in ("run", "show", "check", "import", "merge") else 0):
            for value in BAD:
                line = list(base)
                line[number] = value
                yield Case(f"options/{command}", f"argument {number} {value[:40]!r}", FILES, [command, *line], ANY)
    for operation in OPERATIONS:
        for option in ("--ranks", "--root", "--segments", "--servers"):
            for value in ("0", "1", "2", "3", "7", "16384", "16385", "65536", "1000000", "4194304", "4194305", "100000000", "1000000000", "2147483647"):
                line = ["collective", "--topology", "ethernet-25g", "-b", "1K", "-e", "1K", "--op", operation, option, value]
                if option != "--ranks":
                    line += ["--ranks", "8"]
                yield Case("options/collective", " ".join(line[7:]), {}, line, ANY)
                shown = ["show", "algorithm", "ring" if operation in ("allreduce", "allgather", "reduce_scatter") else "binomial", "--op", operation, option, value]
                yield Case("options/show", " ".join(shown[2:]), {}, shown, ANY)


def output_cases():
    """Nothing of the user's is overwritten, and what cannot be written is found out at the beginning."""
    lines = {"run": ["run", "s.json", "--quiet"], "collective": ["collective", "--topology", "./t.json", "--ranks", "2", "-b", "1K", "-e", "1K"],
             "validate": ["validate", "p.json", "--topology", "./t.json"], "calibrate": ["calibrate", "p.json", "--topology", "./t.json"], "import": ["import", "keras_summary", "k.txt", "--input", "784"]}
    files = {**FILES, "t.json": text_of(documents.TOPOLOGIES["star"])}
    options = {"run": ["--output", "--html", "--markdown", "--timeline", "--draw"], "collective": ["--output", "--html", "--markdown", "--draw"], "validate": ["--output", "--html", "--markdown"],
               "calibrate": ["--output"], "import": ["--output"]}
    inputs = {"run": "s.json", "collective": "t.json", "validate": "p.json", "calibrate": "p.json", "import": "k.txt"}
    for command, line in lines.items():
        for option in options[command]:
            for target in (inputs[command], "./" + inputs[command], "../{folder}/" + inputs[command]):
                yield Case("outputs", f"{command} {option} {target}", files, line + [option, target], REFUSED, prepare=lambda folder: None)
            for target in ("/nowhere/x", ".", "", "a" * 300, "/proc/x", "k.txt/x"):
                yield Case("outputs", f"{command} {option} {target[:20]!r}", files, line + [option, target], REFUSED if target or command == "calibrate" else ANY)

            def link(folder, name=inputs[command]):
                (folder / "link").symlink_to(name)

            yield Case("outputs", f"{command} {option} a link to the input", files, line + [option, "link"], REFUSED, prepare=link)

            def loop(folder):
                (folder / "loop").symlink_to("loop")

            yield Case("outputs", f"{command} {option} a link to itself", files, line + [option, "loop"], REFUSED, prepare=loop)
        if os.path.exists("/dev/full"):
            for option in options[command]:
                yield Case("outputs", f"{command} {option} /dev/full", files, line + [option, "/dev/full"], FAILED)
    if os.path.exists("/dev/full"):
        full = {"help": ["--help"], "version": ["--version"], "run help": ["run", "--help"], "doctor": ["doctor"], "show": ["show", "models"], "show model": ["show", "model", "vgg16"],
                "show topology": ["show", "topology", "theta", "--format", "json"], "check": ["check", "s.json"], "merge": None, **{name: line for name, line in lines.items() if name != "calibrate"}}
        for name, line in full.items():
            if line:
                yield Case("outputs", f"{name} to a full disk", files, line, FAILED, stdout="/dev/full")
    study = text_of(documents.SCENARIOS["sweep"])
    run = ["run", "s.json", "--quiet", "--output", "out.json"]
    for name, data in {"foreign line": b"precious\n", "no line": b"precious", "two lines": b"a\nb\n", "bytes": b"\0\1\2" * 100, "looks like one": b"0123456789abcdef {\"farandole\":1}\n"}.items():
        yield Case("outputs", f"journal: {name}", {"s.json": study, "out.json.partial": data}, run, REFUSED)
        yield Case("outputs", f"journal: {name}, --resume", {"s.json": study, "out.json.partial": data}, run + ["--resume"], REFUSED)

    def partial(folder):
        (folder / "precious").write_text("precious\n")
        (folder / "out.json.partial").symlink_to("precious")

    yield Case("outputs", "journal: a link", {"s.json": study}, run, REFUSED, prepare=partial)
    for option in ("--timeline", "--html", "--markdown", "--draw"):
        yield Case("outputs", f"--output and {option} of one name", {"s.json": text_of(documents.SCENARIOS["ddp"])}, ["run", "s.json", "--quiet", "--output", "x", option, "x"], REFUSED)
    for variable in ("HOROVOD_TIMELINE", "HOROVOD_AUTOTUNE_LOG"):
        yield Case("outputs", f"{variable} in the environment", {"s.json": text_of(documents.SCENARIOS["horovod"]), "t.json": b"measured\n"}, ["run", "s.json", "--quiet"], DONE,
                   environment={variable: "t.json"})
        own = documents.scenario(strategy={"kind": "horovod", "version": "0.21.0", "settings": {variable: "t.json", **({"HOROVOD_AUTOTUNE": "1"} if "TUNE" in variable else {})}})
        yield Case("outputs", f"{variable} in the settings", {"s.json": text_of(own), "t.json": b"measured\n"}, ["run", "s.json", "--quiet"], DONE)


def cases(program):
    yield from option_cases(program)
    yield from output_cases()
