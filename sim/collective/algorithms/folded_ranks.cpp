#include "collective/algorithms/folded_ranks.hpp"

#include <bit>

namespace farandole {

FoldedRanks::FoldedRanks(int ranks)
    : members_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), extra_(ranks - members_) {}

void FoldedRanks::fold(std::vector<Phase>& phases, const Transfer& model) const {
  if (extra_ == 0) return;
  Phase phase{"fold", {}};
  for (int pair = 0; pair < extra_; ++pair) {
    Transfer transfer = model;
    transfer.from = 2 * pair;
    transfer.to = 2 * pair + 1;
    phase.transfers.push_back(transfer);
  }
  phases.push_back(std::move(phase));
}

void FoldedRanks::unfold(std::vector<Phase>& phases, const Transfer& model) const {
  if (extra_ == 0) return;
  Phase phase{"unfold", {}};
  for (int pair = 0; pair < extra_; ++pair) {
    Transfer transfer = model;
    transfer.from = 2 * pair + 1;
    transfer.to = 2 * pair;
    phase.transfers.push_back(transfer);
  }
  phases.push_back(std::move(phase));
}

Transfer FoldedRanks::group(int from, int to, int owner, int size, Blocks blocks, Action action) const {
  const int first = owner / size * size;
  const bool of_ranks = blocks == Blocks::of_ranks;
  const int begin = of_ranks ? first_rank_of(first) : first;
  const int end = of_ranks ? first_rank_of(first + size) : first + size;
  return {rank_of(from), rank_of(to), begin, action, end - begin};
}

void FoldedRanks::halve(std::vector<Phase>& phases, Blocks blocks) const {
  for (int distance = members_ / 2; distance >= 1; distance /= 2) {
    Phase phase{"halving", {}};
    for (int member = 0; member < members_; ++member) {
      const int partner = member ^ distance;
      phase.transfers.push_back(group(member, partner, partner, distance, blocks, Action::reduce));
    }
    phases.push_back(std::move(phase));
  }
}

void FoldedRanks::double_up(std::vector<Phase>& phases, Blocks blocks) const {
  for (int distance = 1; distance < members_; distance *= 2) {
    Phase phase{"doubling", {}};
    for (int member = 0; member < members_; ++member) {
      phase.transfers.push_back(group(member, member ^ distance, member, distance, blocks, Action::copy));
    }
    phases.push_back(std::move(phase));
  }
}

}  // namespace farandole
