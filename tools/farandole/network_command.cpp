// farandole network: which network does this job need?
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "cost_options.hpp"
#include "machine_network.hpp"
#include "network_need.hpp"
#include "question_answer.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

struct NetworkArguments {
  ScenarioArguments scenario;
  std::string price;
  std::vector<std::string> targets{"80 %", "90 %", "95 %"};
  CostOptions cost;
  OutputOptions output;
  PageOptions pages;
};

/// Of a node's part of the network: its NICs, switches and cables, as they are.
struct NetworkPrice {
  double of_a_node = 0;
  std::string currency{};  // empty: no price is known
};

/// By --network-price, else as the scenario's economics have a bought node's.
NetworkPrice network_price(const NetworkArguments& arguments, const Document& document, const Catalogue& catalogue) {
  if (!arguments.price.empty()) {
    const auto space = arguments.price.find_last_of(' ');
    const std::string currency = space == std::string::npos ? "USD" : arguments.price.substr(space + 1);
    const Record bought{{"node_price", arguments.price},
                        {"lifetime", "1 years"},
                        {"electricity", "0 " + currency + "/kWh"},
                        {"utilisation", "100 %"}};
    Record offer{{"name", "network"}, {"kind", "bought"}, {"date", "own"}, {"bought", bought}, {"pue", 1}};
    offer["power"] = {{"host", "1 W"}, {"device_idle", "0 W"}, {"device_busy", "0 W"}};
    try {
      const Offer read = read_offer(Document::parse(offer.dump(), "--network-price").root());
      return {read.owned->price.si(), read.currency};
    } catch (const InputError&) {
      refuse_option("--network-price", "an amount of money such as \"40000 USD\"", arguments.price);
    }
  }
  const auto name = document.find("/economics/offer");
  if (!name) return {};
  const OfferFile file = catalogue.offer(read<std::string>(*name), *name, document.find("/economics/override"));
  const auto network = file.document.find("/bought/network");
  if (!file.offer.owned || !network) return {};
  const auto ranged = file.document.find("/bought/network/value");
  const double share = read<Fraction>(ranged ? *ranged : *network).value;
  return {file.offer.owned->price.si() * share / (1 + share), file.offer.currency};
}

double gigabits(BytesPerSecond rate) {
  return rate.si() * 8 / 1e9;
}

std::string rate_text(BytesPerSecond rate) {
  const double value = gigabits(rate);
  return value < 10 ? fmt::format("{:.3g}", value) : fmt::format("{:.{}f}", value, value < 100 ? 1 : 0);
}

std::vector<double> targets_of(const NetworkArguments& arguments) {
  std::vector<double> targets;
  for (const std::string& text : arguments.targets) {
    const OptionValue option("--target", text);
    const double target = read<Fraction>(option.value()).value;
    if (target <= 0 || target >= 1) option.value().fail("a share above 0 % and below 100 %");
    targets.push_back(target);
  }
  return targets;
}

/// "25", "10 or less", "no rate".
std::string least_text(const NetworkNeed& need, const NetworkAnswer& answer) {
  if (!answer.rate) return "no rate";
  const std::string text = rate_text(need.nic * answer.rate->relative);
  return answer.rate->relative == need.rates.front().relative ? text + " or less" : text;
}

std::string band_text(const NetworkNeed& need, const NetworkAnswer& answer) {
  const auto end = [&](double relative) { return std::isinf(relative) ? "no rate" : rate_text(need.nic * relative); };
  if (!need.own.bands) return {};
  return fmt::format("{} .. {}", end(answer.band.low), end(answer.band.high));
}

std::string thinnest_text(const NetworkAnswer& answer) {
  if (!answer.thinnest) return "none";
  const double thinner = 1 / answer.thinnest->relative;
  return fmt::format("{:.3g}:1{}", thinner, thinner >= most_thinned ? " or more" : "");
}

std::vector<std::string> network_headline(const NetworkNeed& need) {
  const bool is_enough =
      std::ranges::all_of(need.answers, [](const NetworkAnswer& one) { return one.rate.has_value(); });
  std::vector<std::string> sentences{fmt::format(
      "{} on {}, {}: {:.1f} % of what its devices could do with NICs of {} Gbit/s, {:.1f} % with {} Gbit/s.",
      need.own.model, ranks_text(need.own.ranks), need.own.platform, need.own.scaling_efficiency * 100,
      rate_text(need.nic), need.rates.back().point.scaling_efficiency * 100,
      rate_text(need.nic * need.rates.back().relative))};
  if (!is_enough) sentences.emplace_back("Faster NICs do not bring the rest: farandole run --explain says what would.");
  return sentences;
}

Grid answers_grid(const NetworkNeed& need) {
  Grid grid{"Least rates",
            {{"of what devices could do"},
             {"least NIC rate (Gbit/s)"},
             {"80 % interval"},
             {"network behind the NICs thinned to"}},
            {}};
  for (const NetworkAnswer& answer : need.answers) {
    grid.rows.push_back({Cell(fmt::format("{:.3g} %", answer.efficiency * 100)), Cell(least_text(need, answer)),
                         Cell(band_text(need, answer)), Cell(thinnest_text(answer))});
  }
  return grid;
}

/// A row with the step, the throughput and the efficiency of a point behind what it begins with.
std::vector<Cell> with_figures(std::vector<Cell> row, const TrainingPoint& point) {
  const auto percent = [](double share) { return fmt::format("{:.1f}", share * 100); };
  row.emplace_back(grouped(point.iteration.si() * milliseconds_per_second, 3));
  row.emplace_back(grouped(point.samples_per_second, 1));
  row.emplace_back(percent(point.scaling_efficiency));
  row.emplace_back(point.bands ? percent(point.bands->scaling_efficiency.low) + " .. " +
                                     percent(point.bands->scaling_efficiency.high)
                               : std::string());
  return row;
}

Grid rates_grid(const NetworkNeed& need) {
  Grid grid{"Rates that were tried",
            {{"NIC rate (Gbit/s)"}, {"iteration (ms)"}, {"samples/s"}, {"efficiency (%)"}, {"80 % interval"}},
            {}};
  for (const NetworkVariant& variant : need.rates) {
    grid.rows.push_back(with_figures({Cell(rate_text(need.nic * variant.relative))}, variant.point));
  }
  return grid;
}

Grid others_grid(const NetworkNeed& need) {
  Grid grid{"The same devices with other NICs and networks",
            {{"machine", Align::left},
             {"NICs of a node", Align::left},
             {"transport", Align::left},
             {"iteration (ms)"},
             {"samples/s"},
             {"efficiency (%)"},
             {"80 % interval"}},
            {}};
  for (const OtherNetwork& other : need.others) {
    const std::string nics = fmt::format("{} x {} Gbit/s", other.nics, rate_text(other.nic));
    grid.rows.push_back(with_figures({Cell(other.machine), Cell(nics), Cell(other.transport)}, other.point));
  }
  return grid;
}

/// What a node's NICs cost in all nodes, and the next step up for each point of efficiency.
struct NicsPriced {
  int nics = 1;
  double price = 0;
  double efficiency = 0;
  std::optional<double> for_a_point{};  // empty: of the last, and where more NICs are no faster
};

std::vector<NicsPriced> nics_priced(const NetworkNeed& need, const NetworkPrice& price) {
  std::vector<NicsPriced> rows;
  const auto add = [&](int nics, const TrainingPoint& point) {
    rows.push_back({nics, price.of_a_node * point.nodes * nics / need.nics, point.scaling_efficiency});
  };
  for (const OtherNetwork& other : need.others) {
    if (other.machine == need.own.platform) add(other.nics, other.point);
  }
  add(need.nics, need.own);
  for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
    const double points = 100 * (rows[row + 1].efficiency - rows[row].efficiency);
    if (points > 0) rows[row].for_a_point = (rows[row + 1].price - rows[row].price) / points;
  }
  return rows;
}

Grid prices_grid(const NetworkNeed& need, const NetworkPrice& price) {
  const std::string& currency = price.currency;
  Grid grid{"What NICs cost",
            {{"NICs of a node"},
             {fmt::format("network of {} nodes ({})", need.own.nodes, currency)},
             {"efficiency (%)"},
             {fmt::format("{} for each point that the next row has more", currency)}},
            {}};
  for (const NicsPriced& row : nics_priced(need, price)) {
    grid.rows.push_back({Cell(std::to_string(row.nics)), Cell(grouped(row.price, 0)),
                         Cell(fmt::format("{:.1f}", row.efficiency * 100)),
                         Cell(row.for_a_point ? grouped(*row.for_a_point, 0) : std::string())});
  }
  return grid;
}

Record prices_record(const NetworkNeed& need, const NetworkPrice& price) {
  Record rows = Record::array();
  for (const NicsPriced& row : nics_priced(need, price)) {
    rows.push_back({{"nics_per_node", row.nics},
                    {"price", row.price},
                    {"efficiency", row.efficiency},
                    {"price_per_point", row.for_a_point ? Record(*row.for_a_point) : Record()}});
  }
  return {{"currency", price.currency}, {"rows", rows}};
}

/// Efficiency over the rate, with its band.
Record network_chart(const NetworkNeed& need) {
  Record rows = Record::array();
  for (const NetworkVariant& variant : need.rates) {
    Record row{{"series", need.own.model},
               {"x", gigabits(need.nic * variant.relative)},
               {"y", variant.point.scaling_efficiency}};
    if (variant.point.bands) {
      row["low"] = variant.point.bands->scaling_efficiency.low;
      row["high"] = variant.point.bands->scaling_efficiency.high;
    }
    rows.push_back(row);
  }
  return {{"axis", "NIC rate (Gbit/s)"},
          {"measure", "scaling efficiency"},
          {"unit", "efficiency"},
          {"share", true},
          {"rows", rows},
          {"accent", need.own.model}};
}

Record variant_record(const NetworkNeed& need, const NetworkVariant& variant) {
  return {{"nic_bits_per_second", need.nic.si() * 8 * variant.relative},
          {"set", set_record(variant.set)},
          {"point", to_record(variant.point)}};
}

Record network_record(const NetworkNeed& need) {
  Record answers = Record::array();
  const auto end = [&](double relative) {
    return std::isinf(relative) ? Record() : Record(need.nic.si() * 8 * relative);
  };
  for (const NetworkAnswer& answer : need.answers) {
    Record record{{"efficiency", answer.efficiency}};
    record["least_nic_bits_per_second"] = answer.rate ? Record(need.nic.si() * 8 * answer.rate->relative) : Record();
    record["band"] = {end(answer.band.low), end(answer.band.high)};
    record["oversubscription"] = answer.thinnest ? Record(1 / answer.thinnest->relative) : Record();
    if (answer.rate) record["set"] = variant_record(need, *answer.rate).at("set");
    answers.push_back(record);
  }
  Record rates = Record::array();
  for (const NetworkVariant& variant : need.rates) rates.push_back(variant_record(need, variant));
  Record others = Record::array();
  for (const OtherNetwork& other : need.others) {
    others.push_back({{"machine", other.machine},
                      {"nics_per_node", other.nics},
                      {"nic_bits_per_second", other.nic.si() * 8},
                      {"transport", other.transport},
                      {"set", set_record(other.set)},
                      {"point", to_record(other.point)}});
  }
  return {{"nic_bits_per_second", need.nic.si() * 8},
          {"own", to_record(need.own)},
          {"answers", answers},
          {"rates", rates},
          {"others", others}};
}

QuestionAnswer network_answer(const NetworkNeed& need, const NetworkPrice& price, const std::string& scenario) {
  QuestionAnswer result{"network", scenario, network_headline(need), {answers_grid(need), rates_grid(need)}, {}, {},
                        {},        {},       network_record(need)};
  if (!need.others.empty()) result.grids.push_back(others_grid(need));
  result.notes = {
      "a rate is each NIC's; links between switches are as many times faster or slower, latencies as they are",
      "thinned N:1: links between switches at an N-th of their rate, NICs as they are; none: they miss it as they are"};
  if (!need.has_switches)
    result.notes.back() +=
        fmt::format("; this machine's file has no switches: leaves of {} nodes under spines are assumed",
                    nodes_of_assumed_leaves(need.own.nodes));
  if (!need.others.empty())
    result.notes.emplace_back(
        "other machines are as their files have them, with their own libraries: --set platform.topology=NAME");
  if (!price.currency.empty()) {
    result.grids.push_back(prices_grid(need, price));
    result.record["prices"] = prices_record(need, price);
    result.notes.emplace_back(
        "the price of a network is taken to grow with the NICs of a node; a point is 1 % of what devices could do");
  }
  for (const auto& notes : {need.notes, need.own.notes})
    result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  for (const std::string& why : need.refused) result.notes.push_back("not timed on " + why);
  for (const NetworkAnswer& answer : need.answers) {
    if (answer.rate)
      result.options.push_back(fmt::format("{:.3g} %: --set '{}={}'", answer.efficiency * 100,
                                           answer.rate->set.front().pointer, answer.rate->set.front().json));
  }
  result.chart = Chart{"curves", "rates", "Scaling efficiency over the rate of a NIC"};
  result.drawn = network_chart(need);
  return result;
}

void answer_network(const NetworkArguments& arguments) {
  check_forms(arguments.output, arguments.pages);
  const std::vector<double> targets = targets_of(arguments);
  Targets files;
  files.reads("the scenario", arguments.scenario.file);
  arguments.output.add_to(files);
  arguments.pages.add_to(files);
  files.check();
  const Document document = arguments.scenario.read();
  const Catalogue catalogue;
  RunOptions options;
  options.budget = arguments.cost.most();
  options.network = arguments.cost.solver();
  const NetworkPrice price = network_price(arguments, document, catalogue);
  const NetworkNeed need = arguments.cost.within(arguments.scenario.file,
                                                 [&] { return network_need(document, catalogue, options, targets); });
  write_question_answer(network_answer(need, price, arguments.scenario.file), arguments.output, arguments.pages);
}

}  // namespace

void add_network(CLI::App& app) {
  auto arguments = std::make_shared<NetworkArguments>();
  CLI::App* command = app.add_subcommand("network", "Find the network that a job needs: NIC rate, oversubscription");
  arguments->scenario.add_to(*command, "the scenario file; of a sweep, its last configuration counts");
  command
      ->add_option("--target", arguments->targets,
                   "a share of what the devices could do; may be repeated (default: 80 %, 90 % and 95 %)")
      ->type_name("SHARE")
      ->allow_extra_args(false);
  command
      ->add_option("--network-price", arguments->price,
                   "what a node's NICs and its part of switches and cables cost as they are, such as \"40000 USD\"; "
                   "else as the scenario's economics have it of nodes that are bought")
      ->type_name("MONEY");
  arguments->cost.add_network_to(*command);
  arguments->cost.add_to(*command);
  arguments->output.add_file_to(*command, "table or json");
  arguments->pages.add_to(*command);
  command->footer("Example:\n  farandole network scenarios/llama3-8b-fsdp-h100.json --target '90 %'");
  command->callback([arguments] { answer_network(*arguments); });
}

}  // namespace farandole
