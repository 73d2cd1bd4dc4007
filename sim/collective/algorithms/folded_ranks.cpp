#include "collective/algorithms/folded_ranks.hpp"

#include <bit>

namespace farandole { inline namespace collective {

FoldedRanks::FoldedRanks(int ranks, Stays stays)
    : members_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
      extra_(ranks - members_),
      odd_(stays == Stays::odd ? 1 : 0) {}

Phase FoldedRanks::in_pairs(const char* name, const Transfer& model, bool to_member) const {
  Phase phase{name, {}};
  for (int pair = 0; pair < extra_; ++pair) {
    const int member = 2 * pair + odd_;
    const int other = 2 * pair + 1 - odd_;
    Transfer transfer = model;
    transfer.from = to_member ? other : member;
    transfer.to = to_member ? member : other;
    phase.transfers.push_back(transfer);
  }
  return phase;
}

void FoldedRanks::fold(std::vector<Phase>& phases, const Transfer& model) const {
  if (extra_ > 0) phases.push_back(in_pairs("fold", model, true));
}

void FoldedRanks::fold_by_halves(std::vector<Phase>& phases) const {
  if (extra_ == 0) return;
  const int half = members_ / 2;
  Phase exchange = in_pairs("fold_halves", {0, 0, 0, Action::reduce, half}, true);
  for (const Transfer& back : in_pairs("", {0, 0, half, Action::reduce, half}, false).transfers) {
    exchange.transfers.push_back(back);
  }
  phases.push_back(std::move(exchange));
  fold(phases, {0, 0, half, Action::copy, half});
}

void FoldedRanks::unfold(std::vector<Phase>& phases, const Transfer& model) const {
  if (extra_ > 0) phases.push_back(in_pairs("unfold", model, false));
}

Transfer FoldedRanks::blocks_between(int from, int to, Window part, Blocks blocks, Action action) const {
  const bool of_ranks = blocks == Blocks::of_ranks;
  const int end = part.first + part.count;
  const int begin_block = of_ranks ? first_rank_of(part.first) : part.first;
  const int end_block = of_ranks ? first_rank_of(end) : end;
  return {rank_of(from), rank_of(to), begin_block, action, end_block - begin_block};
}

void FoldedRanks::halve(std::vector<Phase>& phases, Blocks blocks) const {
  for (int distance = members_ / 2; distance >= 1; distance /= 2) {
    Phase phase{"halving", {}};
    for (int member = 0; member < members_; ++member) {
      const int partner = member ^ distance;
      const Window part{partner / distance * distance, distance};
      phase.transfers.push_back(blocks_between(member, partner, part, blocks, Action::reduce));
    }
    phases.push_back(std::move(phase));
  }
}

void FoldedRanks::double_up(std::vector<Phase>& phases, Blocks blocks) const {
  for (int distance = 1; distance < members_; distance *= 2) {
    Phase phase{"doubling", {}};
    for (int member = 0; member < members_; ++member) {
      const Window part{member / distance * distance, distance};
      phase.transfers.push_back(blocks_between(member, member ^ distance, part, blocks, Action::copy));
    }
    phases.push_back(std::move(phase));
  }
}

FoldedRanks::Window FoldedRanks::window(int member, int distance) const {
  Window part{0, members_};
  for (int bit = 1; bit < distance; bit *= 2) {
    part.count /= 2;
    if ((member & bit) != 0) part.first += part.count;
  }
  return part;
}

void FoldedRanks::halve_nearest_first(std::vector<Phase>& phases, Blocks blocks) const {
  for (int distance = 1; distance < members_; distance *= 2) {
    Phase phase{"halving", {}};
    for (int member = 0; member < members_; ++member) {
      const int partner = member ^ distance;
      phase.transfers.push_back(blocks_between(member, partner, window(partner, 2 * distance), blocks, Action::reduce));
    }
    phases.push_back(std::move(phase));
  }
}

void FoldedRanks::double_farthest_first(std::vector<Phase>& phases) const {
  for (int distance = members_ / 2; distance >= 1; distance /= 2) {
    Phase phase{"doubling", {}};
    for (int member = 0; member < members_; ++member) {
      phase.transfers.push_back(
          blocks_between(member, member ^ distance, window(member, 2 * distance), Blocks::of_members, Action::copy));
    }
    phases.push_back(std::move(phase));
  }
}

}}  // namespace farandole::collective
