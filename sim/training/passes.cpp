#include "training/passes.hpp"

#include <utility>

namespace farandole::inline training {

TaskId add_passes(Engine& engine, const Job& job, RankTimes moments) {
  Compute passes{job.backward_end};
  for (std::size_t i = 0; i < job.gradients.size(); ++i) {
    const auto index = static_cast<int>(i);
    passes.marks.push_back({job.gradients[i].announced, true, {announced, 0, index}});
    passes.marks.push_back({job.gradients[i].ready, false, {ready, 0, index}});
  }
  passes.exchanges = exchanges_of(job);
  return engine.add({std::move(passes), std::move(moments)});
}

}  // namespace farandole::inline training
