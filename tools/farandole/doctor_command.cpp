// farandole doctor: what this program was built with and whether it finds its data.
#include <iostream>
#include <thread>

#include <CLI/Version.hpp>
#include <Eigen/Core>
#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/backend.hpp"
#include "command.hpp"
#include "report/heading.hpp"
#include "report/page/assets.hpp"
#include "scenario/catalogue.hpp"
#include "simulate/fluid_network.hpp"

namespace farandole {
namespace {

void row(std::string_view what, std::string_view value) {
  std::cout << fmt::format("{:<14} {}\n", what, value);
}

void report_installation() {
  const Catalogue catalogue;
  row("farandole", version());
  row("compiler", __VERSION__);
  const std::string no_simgrid = why_no_simgrid();
  row("simgrid", no_simgrid.empty() ? simgrid_settings().at("version")
                                    : fmt::format("{}: our own solver takes its place", no_simgrid));
  row("eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION));
  row("nlohmann_json",
      fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH));
  row("fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100));
  row("cli11", CLI11_VERSION);
  for (const BackendRow& backend : backends()) {
    std::string answer = backend.open != nullptr ? backend.version : backend.remedy;
    if (backend.devices != nullptr) answer += "; devices: " + backend.devices();
    row("backend " + backend.name, answer);
  }
  row("d3", d3_version().empty() ? "not built: install node-d3 and build again, for pages (--html)" : d3_version());
  row("explore", explore_module().empty()
                     ? fmt::format("no simulator for web pages of these sources: {}; tools/explore/build makes one",
                                   explore_lack())
                     : "ready, compiled from this program's own sources");
  row("processors", std::to_string(std::thread::hardware_concurrency()));
  row("data", fmt::format("{} ({} models, {} topologies)", catalogue.root().string(), catalogue.models().size(),
                          catalogue.topologies().size()));
  row("schemas", (catalogue.root() / "sim/config/schemas").string());
  if (catalogue.models().empty() || catalogue.topologies().empty()) {
    throw InputError(fmt::format("{}: expected models/ and topologies/ there, found none; set FARANDOLE_DATA",
                                 catalogue.root().string()));
  }
  row("status", "ready");
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand("doctor", "Say what this program was built with and whether it is ready");
  command->footer("Example:\n  farandole doctor");
  command->callback(report_installation);
}

}  // namespace farandole
