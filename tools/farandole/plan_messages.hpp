// What a plan has to tell people beside its results, on stderr.
#pragma once

#include "scenario/run.hpp"

namespace farandole {

/// What was pasted and has no meaning here, and what algorithms leave unused of the machine.
void say_what_is_noted(const RunPlan& plan);

}  // namespace farandole
