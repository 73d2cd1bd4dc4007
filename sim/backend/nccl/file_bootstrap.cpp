#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "backend/nccl/bootstrap.hpp"
#include "config/error.hpp"

namespace farandole { inline namespace backend {
namespace {

using Path = std::filesystem::path;

constexpr auto patience = std::chrono::seconds(60);
constexpr auto glance = std::chrono::milliseconds(20);

struct Launcher {
  const char* rank;
  const char* ranks;
  const char* local_rank;
};
constexpr std::array launchers{
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    Launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    Launcher{"PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_RANKID"},
    Launcher{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
    Launcher{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
};

std::optional<int> number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 0) throw InputError(std::string(name) + ": expected a whole number, got " + quoted(text));
  return static_cast<int>(value);
}

class FileBootstrap final : public Bootstrap {
 public:
  explicit FileBootstrap(Path file) : file_(std::move(file)) {
    for (const Launcher& launcher : launchers) {
      const auto rank = number(launcher.rank);
      const auto ranks = number(launcher.ranks);
      if (!rank || !ranks) continue;
      rank_ = *rank;
      ranks_ = *ranks;
      local_rank_ = number(launcher.local_rank).value_or(0);
      break;
    }
    if (ranks_ > 1 && file_.empty()) {
      throw InputError("farandole: --nccl-id: expected a file that all ranks can read, got none");
    }
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  [[nodiscard]] int local_rank() const override { return local_rank_; }

  ncclUniqueId share(ncclUniqueId own) override {
    if (ranks_ == 1) return own;
    const Path file = file_.string() + "." + std::to_string(shared_++);
    if (rank_ > 0) return await(file);
    if (std::filesystem::exists(file))
      throw InputError(file.string() + ": expected no such file, got one of another run");
    const Path half = file.string() + ".part";
    std::ofstream(half, std::ios::binary).write(own.internal, sizeof own.internal);
    std::filesystem::rename(half, file);
    written_.push_back(file);
    return own;
  }

  void abandon() override {}

  ~FileBootstrap() override {
    std::error_code none;
    for (const Path& file : written_) std::filesystem::remove(file, none);
  }
  FileBootstrap(const FileBootstrap&) = delete;
  FileBootstrap& operator=(const FileBootstrap&) = delete;

 private:
  static ncclUniqueId await(const Path& file) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!std::filesystem::exists(file)) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("rank 0 did not write " + file.string());
      std::this_thread::sleep_for(glance);
    }
    ncclUniqueId id;
    if (!std::ifstream(file, std::ios::binary).read(id.internal, sizeof id.internal)) {
      throw std::runtime_error("cannot read " + file.string());
    }
    return id;
  }

  Path file_;
  int rank_ = 0;
  int ranks_ = 1;
  int local_rank_ = 0;
  int shared_ = 0;
  std::vector<Path> written_;
};

}  // namespace

std::unique_ptr<Bootstrap> file_bootstrap(const std::filesystem::path& file) {
  return std::make_unique<FileBootstrap>(file);
}

}}  // namespace farandole::backend
