// farandole bench: the nccl-tests table, measured.
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "backend/bench.hpp"
#include "bench_training.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "config/section.hpp"
#include "output_options.hpp"
#include "report/reports.hpp"
#include "scenario/collective_run.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

struct BenchArguments {
  std::string backend = "mpi";
  std::string least = "8";
  std::string most = "128M";
  std::string factor = "2";
  std::string operation = "allreduce";
  std::string algorithm;  // empty: the first that the operation has
  std::string root = "0";
  std::string segments = "0";
  std::string servers = "0";
  std::string repetitions = "20";
  std::string warmup = "5";
  std::string peer = "1";
  std::string nap;
  std::string nccl_id;
  BenchTraining training;
  BenchCompute compute;
  OutputOptions output;
};

const BackendRow& backend(const BenchArguments& arguments) {
  std::vector<std::string> known;
  for (const BackendRow& row : backends()) known.push_back(row.name);
  const BackendRow* row = find_backend(arguments.backend);
  if (row == nullptr) {
    refuse_option("--backend", "a backend", arguments.backend, suggestion(arguments.backend, known));
  }
  if (row->open == nullptr) {
    refuse_option("--backend", "one that is usable here", arguments.backend, "; " + row->remedy);
  }
  return *row;
}

std::vector<Operation> operations(const BenchArguments& arguments) {
  std::vector<Operation> chosen;
  for (const std::string& name : operation_names()) {
    if (arguments.operation == name || arguments.operation == "all") chosen.push_back(*find_operation(name));
  }
  if (chosen.empty()) {
    std::vector<std::string> known = operation_names();
    known.insert(known.end(), {"pingpong", "exchange", "add", "copy"});
    refuse_option("--op", "an operation or all", arguments.operation, suggestion(arguments.operation, known));
  }
  return chosen;
}

int warmup(const BenchArguments& arguments) {
  return whole_number("-w", arguments.warmup, 0);
}

int repetitions(const BenchArguments& arguments) {
  return whole_number("-n", arguments.repetitions, 1);
}

/// Data, what becomes of it, and what it is checked against lie in memory side by side. Said before anything is
/// measured.
void require_memory(const std::string& option, const std::string& text, Bytes most) {
  constexpr int arrays = 3;
  const Bytes memory(static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  if (arrays * most > memory) {
    refuse_option(option, fmt::format("a size of which {} fit into the {} of memory", arrays, format(memory)), text);
  }
  (void)floats_in(most);
}

std::vector<Bytes> bench_sizes(const BenchArguments& arguments) {
  const Bytes least = size_option("-b", arguments.least);
  const Bytes most = size_option("-e", arguments.most);
  if (most < least) refuse_option("-e", "at least the " + arguments.least + " of -b", arguments.most);
  require_memory("-e", arguments.most, most);
  return size_range(least, most, whole_number("-f", arguments.factor, least == most ? 1 : 2));
}

BenchRequest common_request(const BenchArguments& arguments, int ranks) {
  BenchRequest request;
  request.sizes = bench_sizes(arguments);
  request.warmup = warmup(arguments);
  request.repetitions = repetitions(arguments);
  request.root = whole_number("--root", arguments.root, 0);
  if (request.root >= ranks) {
    refuse_option("--root", "a rank below the " + std::to_string(ranks) + " that were started", arguments.root);
  }
  request.segments = whole_number("--segments", arguments.segments, 0, most_segments);
  request.servers = whole_number("--servers", arguments.servers, 0);
  if (request.servers > ranks) {
    refuse_option("--servers", "at most the " + std::to_string(ranks) + " ranks that were started", arguments.servers);
  }
  return request;
}

std::vector<BenchRequest> requests(const BenchArguments& arguments, int ranks) {
  const BenchRequest like = common_request(arguments, ranks);
  std::vector<BenchRequest> chosen;
  std::vector<std::string> known{"all", library_algorithm};
  for (const Operation operation : operations(arguments)) {
    const auto names = algorithm_names(operation);
    for (BenchRequest& request :
         bench_requests(operation, arguments.algorithm.empty() ? names.front() : arguments.algorithm, like)) {
      chosen.push_back(std::move(request));
    }
    known.insert(known.end(), names.begin(), names.end());
  }
  if (chosen.empty()) {
    refuse_option("--algorithm", "an algorithm for " + arguments.operation, arguments.algorithm,
                  suggestion(arguments.algorithm, known));
  }
  return chosen;
}

PairRequest pair_request(const BenchArguments& arguments, PairOperation operation, int ranks) {
  PairRequest request{operation, bench_sizes(arguments), whole_number("--peer", arguments.peer, 1), warmup(arguments),
                      repetitions(arguments)};
  if (request.peer >= ranks) {
    refuse_option("--peer", "a rank below the " + std::to_string(ranks) + " that were started", arguments.peer);
  }
  return request;
}

std::vector<MeasuredPoint> measured(const BenchArguments& arguments, Session& session) {
  const int ranks = session.endpoint().ranks();
  if (const auto pair = find_pair_operation(arguments.operation)) {
    return bench(session, arguments.backend, pair_request(arguments, *pair, ranks));
  }
  if (const auto local = find_local_operation(arguments.operation)) {
    return bench(session, arguments.backend,
                 LocalRequest{*local, bench_sizes(arguments), warmup(arguments), repetitions(arguments)});
  }
  std::vector<MeasuredPoint> points;
  for (const BenchRequest& request : requests(arguments, ranks)) {
    std::ranges::move(bench(session, arguments.backend, request), std::back_inserter(points));
  }
  return points;
}

/// Whether all data was right.
bool measure_and_write(const BenchArguments& arguments, Session& session) {
  if (!arguments.training.scenario.empty()) {
    return bench_training(arguments.training, arguments.backend, warmup(arguments), repetitions(arguments),
                          arguments.output, session);
  }
  const Format format = arguments.output.chosen_format();
  if (session.endpoint().rank() == 0) {
    Targets targets;
    arguments.output.add_to(targets);
    targets.check();
  }
  const Settings settings = session.description();
  const std::vector<MeasuredPoint> points = measured(arguments, session);
  if (session.endpoint().rank() == 0) {
    const Heading heading{"bench", settings, {}, {}, arguments.output.settings};
    arguments.output.write([&](std::ostream& out) { write_bench(out, format, heading, points); });
  }
  return std::ranges::all_of(points, [](const MeasuredPoint& point) { return point.wrong == 0; });
}

std::optional<Seconds> nap(const BenchArguments& arguments) {
  if (arguments.nap.empty()) return std::nullopt;
  const OptionValue option("--nap", arguments.nap);
  return read<Seconds>(option.value());
}

void run_bench(const BenchArguments& arguments) {
  if (!arguments.compute.model.empty()) {
    return bench_compute(arguments.compute, warmup(arguments), repetitions(arguments), arguments.output);
  }
  const BackendRow& row = backend(arguments);
  const auto session = row.open({nap(arguments), arguments.nccl_id});
  // What all ranks would say, rank 0 says alone.
  if (session->endpoint().rank() != 0) std::cerr.setstate(std::ios::failbit);
  bool is_right = false;
  try {
    is_right = measure_and_write(arguments, *session);
  } catch (const InputError& error) {  // on every rank alike
    say_before_leaving(error);
    throw;
  } catch (const std::exception& error) {
    std::cerr << "farandole: " << error.what() << std::endl;
    session->abandon();
  }
  if (!is_right) throw std::runtime_error("the data was wrong after a collective: see #wrong");
}

}  // namespace

void add_bench(CLI::App& app) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand(
      "bench", "Measure a collective on real hardware, under mpirun, srun or aprun: an nccl-tests table; or kernels");
  const auto add = [&](const char* names, std::string& value, const char* help, const char* type) {
    command->add_option(names, value, help)->type_name(type)->capture_default_str();
  };
  add("--backend", arguments->backend, "the library that sends the messages: mpi or nccl", "NAME");
  add("-b,--minbytes", arguments->least, "smallest size; K, M, G are powers of 1024", "SIZE");
  add("-e,--maxbytes", arguments->most, "largest size", "SIZE");
  add("-f,--stepfactor", arguments->factor, "factor from size to size", "N");
  add("--op", arguments->operation,
      "the operation, or all; or pingpong or exchange, between two ranks; or add or copy, of each alone", "OP");
  add("--algorithm", arguments->algorithm, "an algorithm of `show algorithms`, the library's own (library), or all",
      "NAME");
  add("--root", arguments->root, "the root of an operation that has one", "RANK");
  add("--segments", arguments->segments, "segments of a pipelined algorithm; 0: as it sees fit", "N");
  add("--servers", arguments->servers, "parameter servers; 0: as the algorithm sees fit", "N");
  add("--peer", arguments->peer, "the rank that rank 0 plays pingpong or exchange with", "RANK");
  add("-n,--iters", arguments->repetitions, "repetitions that are measured", "N");
  add("-w,--warmup_iters", arguments->warmup, "repetitions before them", "N");
  command
      ->add_option("--nap", arguments->nap,
                   "how long a waiting rank sleeps at most, as \"50 us\"; \"0 us\": it never does. By default it does "
                   "where ranks share processors")
      ->type_name("TIME");
  command
      ->add_option("--nccl-id", arguments->nccl_id, "with nccl: a new file by which ranks without MPI find each other")
      ->type_name("FILE");
  arguments->training.add_to(*command);
  arguments->compute.add_to(*command);
  arguments->output.add_to(*command);
  command->footer(
      "Example:\n  mpirun -np 4 farandole bench --backend mpi -b 1K -e 16M -f 4 --op allreduce --algorithm ring\n"
      "  mpirun -np 4 farandole bench --training scenarios/lab-replay.json\n"
      "  farandole bench --compute resnet50 --precision fp16,tf32 --batch 1,32,256 --model-file my_resnet50.json\n"
      "Open MPI: --oversubscribe for more ranks than cores; as root, OMPI_ALLOW_RUN_AS_ROOT=1 and\n"
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the environment, or mpirun --allow-run-as-root.");
  command->callback([arguments] { run_bench(*arguments); });
}

}  // namespace farandole
