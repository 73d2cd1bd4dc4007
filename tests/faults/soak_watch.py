"""What a run's manager takes of the machine while it runs: memory, open files."""

import os
import pathlib
import re
import statistics
import time


class Peak:
    """The highest memory (KiB) of a process, and its memory and open files at each number of finished points."""

    def __init__(self):
        self.memory, self.seen = 0, []

    def look(self, pid, points):
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            files = len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:  # it has ended
            return
        found = re.search(r"VmHWM:\s+(\d+)", status)
        if found:
            self.memory = max(self.memory, int(found[1]))
            self.seen.append((points, int(found[1]), files))

    def running(self, points):
        """What was seen while the second half of so many points was running: at first caches and libraries come too."""
        return [seen for seen in self.seen if points / 2 <= seen[0] < points]

    def running_per_point(self, points):
        half = self.running(points)
        return (half[-1][1] - half[0][1]) / (half[-1][0] - half[0][0]) if half and half[-1][0] > half[0][0] else 0.0

    def writing_per_point(self, points):
        """What the results take while they are written, beyond that."""
        half = self.running(points)
        return (self.memory - half[-1][1]) / points if half else 0.0

    def usual_files(self, first, last):
        """Open files while so many points were finished; a file that is written, or a worker that is forked, takes one for a moment."""
        files = [seen[2] for seen in self.seen if first <= seen[0] <= last]
        return statistics.median_low(files) if files else 0


def watched(place, arguments):
    """A run from its beginning to its end."""
    peak = Peak()
    process = place.start(arguments)
    while process.poll() is None:
        peak.look(process.pid, place.finished_points())
        time.sleep(0.05)
    return place.finish(process), peak
