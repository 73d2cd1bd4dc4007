#include <stdexcept>

#include "study/mpi/manager.hpp"

namespace farandole { inline namespace study {
namespace {

/// MPI as long as the team lives. It ends together, so not at all where a rank is missing.
class Runtime {
 public:
  Runtime() {
    if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) throw std::runtime_error("MPI does not start");
  }
  ~Runtime() {
    if (all_are_well) MPI_Finalize();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  bool all_are_well = true;
};

class MpiTeam final : public Team {
 public:
  /// Those that could not begin, because of bad input say, do not keep the others waiting.
  ~MpiTeam() override {
    if (is_manager()) {
      end_workers("");
    } else if (!has_served_) {
      runtime_.all_are_well = refuse_to_work(mailbox_).empty();
    }
  }

  [[nodiscard]] int ranks() const { return mailbox_.ranks(); }
  [[nodiscard]] bool is_manager() const override { return mailbox_.rank() == 0; }

  void manage(const std::string& identity, const std::vector<std::size_t>& tasks, const Receive& receive) override {
    Manager manager(mailbox_, identity, tasks, receive);
    try {
      manager.run();
    } catch (...) {
      end_workers(manager.lost());
      throw;
    }
    end_workers(manager.lost());
  }

  void serve(const std::string& identity, const Work& work) override {
    has_served_ = true;
    runtime_.all_are_well = false;  // unless the manager says so
    runtime_.all_are_well = work_for_manager(mailbox_, identity, work).empty();
  }

 private:
  void end_workers(const std::string& lost) {
    if (has_ended_) return;
    has_ended_ = true;
    runtime_.all_are_well = lost.empty();
    for (int rank = 1; rank < mailbox_.ranks(); ++rank) mailbox_.send(rank, Tag::end, lost);
    mailbox_.flush(std::chrono::milliseconds(lost.empty() ? 30'000 : 1'000));
  }

  Runtime runtime_;  // first in, last out
  Mailbox mailbox_;
  bool has_ended_ = false;
  bool has_served_ = false;
};

}  // namespace

void farandole_join_mpi_team(std::unique_ptr<Team>& team) {
  auto joined = std::make_unique<MpiTeam>();
  if (joined->ranks() > 1) team = std::move(joined);
}

}}  // namespace farandole::study
