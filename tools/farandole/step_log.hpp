// What steps took, of a log: a time a line, MLPerf's log, or a table of Weights & Biases.
#pragma once

#include <string>
#include <vector>

namespace farandole {

/// Seconds, at least one, in the order of the log. A line with ":::MLLOG" makes it MLPerf's: of it its own step times,
/// else blocks by the samples between them, else its throughput, the last two by the global batch; a throughput of
/// tokens by the length of a sequence, too. A first line with "_runtime" makes it a table of W&B: differences of that
/// by those of "_step". Else every line is a time with its unit, "#" and what follows left out. InputError with the
/// line.
std::vector<double> step_seconds(const std::string& text, const std::string& path);

/// By its first line.
bool is_wandb_table(const std::string& text);

}  // namespace farandole
