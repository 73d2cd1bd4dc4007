"""What a run's manager takes of the machine while it runs: memory, open files."""

import os
import pathlib
import re
import time


class Peak:
    """The highest memory (KiB) and most open files of a process, and both at each number of finished points."""

    def __init__(self):
        self.memory, self.files, self.seen = 0, 0, []

    def look(self, pid, points):
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            files = len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:  # it has ended
            return
        found = re.search(r"VmHWM:\s+(\d+)", status)
        if found:
            self.memory, self.files = max(self.memory, int(found[1])), max(self.files, files)
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

    def files_grew(self, points):
        first = [files for finished, _, files in self.seen if 0 < finished < points / 2]
        second = [files for _, _, files in self.running(points)]
        return bool(first and second) and max(second) > max(first)


def watched(place, arguments):
    """A run from its beginning to its end."""
    peak = Peak()
    process = place.start(arguments)
    while process.poll() is None:
        peak.look(process.pid, place.finished_points())
        time.sleep(0.05)
    return place.finish(process), peak
