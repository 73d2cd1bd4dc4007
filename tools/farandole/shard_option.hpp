// --shard I/N of farandole run.
#pragma once

#include <string>

#include "study/study.hpp"

namespace farandole {

/// "2/3"; the whole where the text is empty. InputError where it is neither.
StudyShard parse_shard(const std::string& text);

}  // namespace farandole
