// Shards joined into the result of the whole.
//
// Called by `farandole merge`. A shard's file is what `farandole run --shard I/N --output FILE` writes: a heading, then
// the shard's points in order (study/journal.hpp). Shards that are missing, twice, cut short, or another study's are
// refused by name (InputError).
#pragma once

#include <filesystem>
#include <ostream>
#include <vector>

#include "study/study.hpp"

namespace farandole {

void write_shard(std::ostream& out, const StudyHeading& heading, const StudyResult& result);

struct Merged {
  StudyHeading heading;
  std::vector<TrainingPoint> points;
};

Merged merge_shards(const std::vector<std::filesystem::path>& files);

}  // namespace farandole
