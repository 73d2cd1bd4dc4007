"""Text is the field's own English: expressions that were replaced stay out of READMEs, help, messages, pages and comments.

A row is a pattern and what to say instead. A new row is added where a reader stumbled on something.
"""

import re
import shutil
import subprocess
import unittest

from python_support import ROOT

REPLACED = [
    (r"does it tell the truth", "How accurate is it?"),
    (r"published picture says", "Horovod's published benchmark reports"),
    (r"\b(hangs?|hanging) on\b", "depends on; is attached to; sensitivity to"),
    (r"\btells? the whole story", "is documented in"),
    (r"\bstand in\b", "are in; are documented in"),
    (r"what a running NCCL kernel takes", "NCCL occupies two SMs"),
    (r"sizes that the fit has not seen", "held-out sizes"),
    (r"say little about the rate", "barely constrain the bandwidth"),
    (r"goes on where it stopped", "resumes"),
    (r"\bshare one out\b", "split a sweep"),
    (r"are the whole set-up", "setup takes two commands"),
    (r"(^|[.#] |\")one more\b(?= ?(room|kind|way)?(\n|:| is| to))", "Adding a ..."),
    (r"adding one more", "Adding a ..."),
    (r"^#+ what is wrong with it\b", "Degraded links and background traffic"),
    (r"\bkeeps? [^.\n]{1,40} of linear scaling", "scales at 87 % efficiency"),
    (r"\bof the time in use\b", "above 31 % utilisation"),
    (r"as rank 0 lives it", "Seen from rank 0."),
    (r"tensors that travel together", "One bar per fused buffer."),
    (r"how far to trust it", "Accuracy on comparable published runs"),
    (r"on the line they agree", "on the diagonal: exact"),
    (r"having the nodes for so many years", "Cumulative cost of ownership"),
    (r"assumed, as no source says", "Assumptions without a source"),
    (r"\b9 of 10 below\b", "90th percentile"),
    (r"\bnull model", "linear-scaling baseline"),
    (r"\ba cycle of 1 ms\b", "cycle time 1 ms"),
    (r"\bbatch x2\b", "double the batch"),
    (r"no measurement depends on it", "not identifiable from these data"),
    (r"\bmore are doubtful\b", "outliers excluded"),
    (r"\bfor no one\b", "\"none\" ignores"),
    (r"it is not held against", "the check is skipped"),
    (r"expected no page of", "--html is not available for optimise scenarios"),
    (r"expected no such option", "--resume is not available for optimise scenarios"),
    (r"\b(to|can|cannot) be had\b", "(un)available"),
    (r"\bof no account\b", "ignored"),
    (r"\bas ever\b", "as usual"),
    (r"\bso often (in|that|as)\b", "this many times; so frequent"),
    (r"\blets these live\b", "keeps them running"),
    (r"bytes' stead", "executes it on integer buffers, one element per byte"),
    (r"\blaid onto\b", "mapped to"),
    (r"\bcarried as one\b", "aggregated"),
    (r"\bpoints of efficiency, cheapest", "gain in percentage points of present linear scaling: a change may make devices faster"),
    (r"\bon the way back\b", "in the opposite direction"),
    (r"\bpublished picture\b", "published benchmark"),
    (r"\bhide their communication behind", "overlap communication with computation"),
    (r"\bpasses that add up\b", "gradient accumulation steps"),
    (r"\bknows no activations\b", "has no activations, so the memory check is skipped"),
    (r"\bkept: (no measurement|not identifiable)", "unchanged: not identifiable from these data"),
    (r"\bor with \"none\" for", "\"none\" ignores"),
    (r"\bcarry a doubt\b", "are marked as uncertain"),
    (r"\d % sure\b|\bsure \(%\)|% sure to\b", "P(faster) 95 %"),
    (r"\b(4 of 5|four of five) such\b|\b80 % bands?\b", "80 % interval"),
    (r"\bdearest\b", "most expensive"),
    (r"\bwhat published runs were missed by\b", "errors on published runs"),
]
# Names in the code, case and all.
RENAMED = [
    (r"\b(ring_at|has_rung|take_ring)\b", "set_timer, on_timer"),
    (r"\btake_from_compute\b", "compute_slowdown"),
    (r"\b(unlikelihood|Belief)\b", "negative log likelihood, posterior"),
    (r"\bTraveller\b", "chunk tracker"),
    (r"\b(bury_the_silent|deadly|cause_of_death|take_hello)\b", "expire_workers, max_failures, exit_reason, register_worker"),
    (r"\b(Nap|doze|Mailroom)\b", "idle poll, wait_for, in-process mailbox"),
    (r"\beveryones\(", "allgather_scalar"),
    (r"\bis_promised\b", "has postcondition"),
    (r"\b(Party|Own) ?(\{|\()", "contender, our collective"),
    (r"\bmake_room\(", "reserve_server_nodes"),
    (r"\bkeeps_step\b", "bulk-synchronous"),
    (r"\b(Unsaid|TrainingStory)\b", "defaults for missing fields, TrainingPageInput"),
]
PATTERNS = [(re.compile(pattern, re.IGNORECASE | re.MULTILINE), better) for pattern, better in REPLACED]
PATTERNS += [(re.compile(pattern), better) for pattern, better in RENAMED]

# The histories quote what was; this file has to.
LEFT_OUT = {"CHANGELOG.md", "docs/accuracy/history.md", "tests/tools/words_test.py",
            "tests/fuzz/corpus/journal/number_beyond_an_int"}  # a line of it has a checksum
NOT_OURS = {"build", ".git", "__pycache__"}
BINARY = {".png", ".ico", ".gz"}


def files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False) if shutil.which("git") else None
    if listed is None or listed.returncode != 0:  # no git, or an archive without .git
        return [path for path in ROOT.rglob("*") if path.is_file() and not NOT_OURS & set(path.parts)]
    return [ROOT / name for name in listed.stdout.splitlines()]


def plain(text):
    """A sentence goes on over the end of a line, also of a comment, a quotation, or a literal in two parts."""
    joined = re.sub(r"\"?[ ]*\n[ \t]*(//[/!]?|#|>|\*|\")?[ \t]*(?=[a-z0-9])", " ", text)
    return re.sub(r" {2,}", " ", joined)


class Words(unittest.TestCase):
    def test_none_of_the_replaced_expressions_is_left(self):
        found = []
        for path in files():
            name = str(path.relative_to(ROOT))
            if name in LEFT_OUT or path.suffix in BINARY or not path.is_file():
                continue
            text = plain(path.read_text(encoding="utf-8", errors="replace"))
            found += [f"{name}: \"{match[0]}\"; better: {better}"
                      for pattern, better in PATTERNS for match in pattern.finditer(text)]
        self.assertEqual(found, [], "\n".join(found))

    def test_each_pattern_finds_what_it_is_for(self):
        for sentence in ["What the prediction hangs on", "## One more\n", "vgg16 keeps 87 % of linear scaling", "inlined as\n// ever: x",
                         "what cannot\n  # be had is named", "It pays from 31 % of the time in use", "\"a cycle \"\n    \"of 1 ms\"",
                         "Horovod's published picture", "acknowledgements on the way back", "engine.ring_at(now)", "Mailroom mail;", "95 % sure to be a gain", "4 of 5 such steps",
                         "80 % band of costs", "the dearest offer"]:
            self.assertTrue(any(pattern.search(plain(sentence)) for pattern, _ in PATTERNS), sentence)
        for sentence in ["One more sample", "a scenario as everywhere", "above 31 % utilisation", "stands in the way",
                         "a party of four", "mailrooms", "make sure", "an 80 % interval", "band of an estimate"]:
            self.assertFalse(any(pattern.search(plain(sentence)) for pattern, _ in PATTERNS), sentence)


if __name__ == "__main__":
    unittest.main()
