// farandole cost: money, energy, CO2 and hours of a run, and of the same work over years, by every offer of such nodes.
#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "command.hpp"
#include "cost_options.hpp"
#include "question_answer.hpp"
#include "scenario/anchor.hpp"
#include "scenario/charged_job.hpp"
#include "scenario/run.hpp"

namespace farandole {
namespace {

constexpr double joules_of_a_kwh = 3.6e6;
constexpr double grams_of_a_tonne = 1e6;
constexpr int months_of_a_year = 12;
constexpr int old_prices = 6;  // months
constexpr double day_in_seconds = 86'400;

struct CostArguments {
  ScenarioArguments scenario;
  std::vector<std::string> offers;
  std::string price;
  std::string years = "3";
  std::string utilisation = "60 %";
  std::string co2 = "436 g/kWh";
  std::string exchange;
  std::string on;
  CostOptions cost;
  OutputOptions output;
  PageOptions pages;
};

struct Exchange {
  double factor = 1;
  std::string from;  // empty: money stays as it is
  std::string to;
};

struct CostTerms {
  int years = 3;
  double utilisation = 1;
  double grams_per_joule = 0;
  Exchange exchange;
  int month = 0;  // of today, counted from the year 0
};

/// What is paid, used and emitted.
struct Bill {
  double money = 0;
  double joules = 0;
  double grams = 0;
};

struct OfferCost {
  Offer offer;
  std::string currency;
  std::optional<int> months_old;
  Bill run;
  double hours = 0;
  double node_hour = 0;
  Bill years;
  bool has_minimum = false;  // the run is charged more than the time it takes
  Record set;                // of `farandole run`, that gives the same; null: own price
};

struct CostAnswer {
  TrainingPoint point;
  std::vector<std::string> notes;  // on what the point does not see
  bool has_run = true;             // else a day of training stands for it
  double runs = 0;                 // in the years
  std::vector<OfferCost> offers;
};

Exchange read_exchange(const std::string& text) {
  if (text.empty()) return {};
  std::istringstream words(text);
  Exchange exchange;
  std::string pair;
  const auto is_currency = [](const std::string& name) {
    return name.size() == 3 && std::ranges::all_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  if (words >> exchange.factor >> pair && exchange.factor > 0 && std::isfinite(exchange.factor) && pair.size() == 7 &&
      pair[3] == '/') {
    exchange.to = pair.substr(0, 3);
    exchange.from = pair.substr(4);
  }
  std::string more;
  if (!is_currency(exchange.to) || !is_currency(exchange.from) || words >> more)
    refuse_option("--exchange", "a rate such as 0.92 EUR/USD", text);
  return exchange;
}

double read_co2(const std::string& text) {
  std::istringstream words(text);
  double grams = 0;
  std::string unit;
  std::string more;
  if (!(words >> grams >> unit) || words >> more || unit != "g/kWh" || !(grams >= 0) || !std::isfinite(grams))
    refuse_option("--co2", "grams such as 436 g/kWh", text);
  return grams / joules_of_a_kwh;
}

/// "2025-03" from its last year on; nothing where there is none.
std::optional<int> month_of(const std::string& date) {
  constexpr std::size_t length = 7;
  if (date.size() < length) return std::nullopt;
  const std::string last = date.substr(date.size() - length);
  const auto are_digits = [&](std::size_t from, std::size_t count) {
    return std::ranges::all_of(last.substr(from, count), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!are_digits(0, 4) || last[4] != '-' || !are_digits(5, 2)) return std::nullopt;
  const int month = std::stoi(last.substr(5));
  if (month < 1 || month > months_of_a_year) return std::nullopt;
  return std::stoi(last.substr(0, 4)) * months_of_a_year + month - 1;
}

int month_of_today() {
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return int(today.year()) * months_of_a_year + static_cast<int>(unsigned(today.month())) - 1;
}

CostTerms terms_of(const CostArguments& arguments) {
  CostTerms terms;
  constexpr int most_years = 50;
  terms.years = whole_number("--years", arguments.years, 1, most_years);
  const OptionValue utilisation("--utilisation", arguments.utilisation);
  terms.utilisation = read<Fraction>(utilisation.value()).value;
  if (terms.utilisation <= 0 || terms.utilisation > 1) utilisation.value().fail("a share above 0 %, up to 100 %");
  terms.grams_per_joule = read_co2(arguments.co2);
  terms.exchange = read_exchange(arguments.exchange);
  terms.month = month_of_today();
  if (!arguments.on.empty()) {
    const auto month = month_of(arguments.on);
    if (!month || arguments.on.size() != 7) refuse_option("--on", "a month such as 2026-11", arguments.on);
    terms.month = *month;
  }
  return terms;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Whether a summary speaks of such nodes: "8 H100", "DGX H100", "four P100", the machine itself; Amazon's instances
/// have names of their own.
bool is_of(const std::string& summary, const PlatformSpec& spec) {
  constexpr int of_a_dgx = 8;
  std::string text = " ";
  for (const char c : summary) text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : ' ';
  text = lower_case(text) + " ";
  const std::string board = lower_case(spec.device.name.substr(0, spec.device.name.find('_')));
  const int devices = spec.platform.devices_per_node;
  const auto has = [&](const std::string& words) { return text.find(" " + words + " ") != std::string::npos; };
  if (has(fmt::format("{} {}", devices, board)) || has(lower_case(spec.platform.name))) return true;
  if (devices == 4) return has("four " + board);
  return devices == of_a_dgx && (has("dgx " + board) || (board == "a100" && has("p4d 24xlarge")));
}

class CostQuestion {
 public:
  CostQuestion(const CostArguments& arguments, const CostTerms& terms, const Document& document,
               const Catalogue& catalogue)
      : arguments_(arguments),
        catalogue_(catalogue),
        terms_(terms),
        document_(anchored(expand_sweep(document).back().document, catalogue)) {
    for (const char* key : {"/question", "/economics", "/sweep"}) document_.remove(key);
  }

  CostAnswer answer() {
    RunOptions options;
    options.budget = arguments_.cost.most();
    options.network = arguments_.cost.solver();
    const RunPlan plan = plan_run(document_, catalogue_, options);
    answer_.notes = plan.notes;
    const PlannedPoint planned = read_point(plan.points.front(), catalogue_);
    answer_.point = run_point(planned, catalogue_, nullptr);
    job_ = charged(planned.scenario, answer_.point);
    answer_.has_run = job_.run.has_value();
    if (!job_.run) {
      job_.run = WholeRun{};
      job_.run->total = Seconds(day_in_seconds);
    }
    answer_.runs = year.si() * terms_.years * terms_.utilisation / job_.run->total.si();
    const std::map<std::string, OfferFile> such = of_such_nodes(planned.scenario.platform);
    if (!arguments_.price.empty()) add_own_price(such);
    for (const std::string& name : arguments_.offers) {
      const OptionValue value("--offer", name);
      add(name, catalogue_.offer(name, value.value()).document, true);
    }
    if (arguments_.offers.empty()) {
      for (const auto& [name, file] : such) add(name, file.document, true);
    }
    if (answer_.offers.empty())
      refuse_option(
          "--offer",
          fmt::format("an offer, or --price, as there is none of {} {} a node (farandole show offers)",
                      planned.scenario.platform.platform.devices_per_node, planned.scenario.platform.device.name),
          "none");
    const std::string first = answer_.offers.front().currency;
    std::ranges::stable_sort(answer_.offers, {}, [&](const OfferCost& cost) {
      return std::tuple(cost.currency != first, cost.currency, cost.years.money);
    });
    return std::move(answer_);
  }

 private:
  [[nodiscard]] std::map<std::string, OfferFile> of_such_nodes(const PlatformSpec& spec) const {
    std::map<std::string, OfferFile> such;
    for (const std::string& name : catalogue_.offers()) {
      const OptionValue value("--offer", name);
      OfferFile file = catalogue_.offer(name, value.value());
      if (is_of(document_summary(file.document), spec)) such.emplace(name, std::move(file));
    }
    return such;
  }

  /// Of nodes that draw what those of the first offer of such nodes do.
  void add_own_price(const std::map<std::string, OfferFile>& such) {
    Record offer{{"name", "own-price"}, {"kind", "rented"}, {"date", "own"}};
    has_power_ = !such.empty();
    if (has_power_) {
      const auto& [name, file] = *such.begin();
      offer["power"] = Record::parse(file.document.to_json().at("power").dump());
      offer["pue"] = file.offer.pue;
    } else {
      offer["power"] = {{"host", "0 W"}, {"device_idle", "0 W"}, {"device_busy", "0 W"}};
      offer["pue"] = 1.0;
    }
    offer["rented"] = {{"node_price", arguments_.price}, {"minimum", "1 s"}};
    add_priced(Document::parse(offer.dump(), "--price"));
    if (has_power_) answer_.offers.back().offer.assumptions.push_back("power and PUE of " + such.begin()->first);
    has_power_ = true;
  }

  void add_priced(const Document& own) {
    try {
      add("own price", own, false);
    } catch (const InputError& error) {
      const std::string message = error.what();
      const std::string place = "/rented/node_price: ";
      const auto behind = message.find(place);
      if (behind == std::string::npos) throw;
      throw InputError("farandole: --price: " + message.substr(behind + place.size()));
    }
  }

  void add(const std::string& name, const Document& document, bool is_file) {
    Document changed = document;
    Record override = Record::object();
    for (const char* pointer : {"/bought/utilisation", "/reserved/utilisation"}) {
      if (!changed.find(pointer)) continue;
      override[pointer] = fmt::format("{:.9g} %", terms_.utilisation * 100);
      changed.set(pointer, override[pointer].dump());
    }
    OfferCost cost;
    cost.offer = read_offer(changed.root());
    if (is_file) {
      cost.set = Record{{"offer", name}};
      if (!override.empty()) cost.set["override"] = override;
    }
    work_out(cost);
    answer_.offers.push_back(std::move(cost));
  }

  void work_out(OfferCost& cost) const {
    const Offer& offer = cost.offer;
    const bool is_exchanged = !terms_.exchange.from.empty() && terms_.exchange.from == offer.currency;
    const double factor = is_exchanged ? terms_.exchange.factor : 1;
    cost.currency = is_exchanged ? terms_.exchange.to : offer.currency;
    if (const auto month = month_of(offer.date)) cost.months_old = terms_.month - *month;
    const double stretch = stretch_of(offer, job_.use.nodes);
    const double seconds = job_.run->total.si() * stretch;
    const double watts =
        (draw(offer.power, job_.use.devices_per_node, job_.use.busy) * offer.pue * job_.use.nodes).si();
    const double idle = (draw(offer.power, job_.use.devices_per_node, 0) * offer.pue * job_.use.nodes).si();
    cost.hours = seconds / hour.si();
    cost.node_hour = (node_rate(offer, job_.use) * hour).si() * factor;
    cost.run.money = per_run(offer, job_).si() * factor;
    const double used = (job_rate(offer, job_) * Seconds(seconds)).si() * factor;
    cost.has_minimum = cost.run.money > used * (1 + 1e-9);
    cost.run.joules = watts * seconds;
    cost.years.money = used * answer_.runs;
    cost.years.joules = cost.run.joules * answer_.runs;
    if (offer.is_committed()) cost.years.joules += idle * stretch * year.si() * terms_.years * (1 - terms_.utilisation);
    if (!has_power_) cost.run.joules = cost.years.joules = std::nan("");
    for (Bill* bill : {&cost.run, &cost.years}) bill->grams = bill->joules * terms_.grams_per_joule;
  }

  const CostArguments& arguments_;
  const Catalogue& catalogue_;
  const CostTerms& terms_;
  Document document_;
  ChargedJob job_;
  bool has_power_ = true;
  CostAnswer answer_;
};

std::string number_or_nothing(double number, double unit, int decimals) {
  return std::isnan(number) ? "" : grouped(number / unit, decimals);
}

/// Few digits where the number is large.
int decimals_of(double number) {
  return std::abs(number) < 10 ? 2 : std::abs(number) < 1000 ? 1 : 0;
}

std::string money_text(double money) {
  return grouped(money, decimals_of(money));
}

std::vector<std::string> cost_headline(const CostAnswer& answer, const CostTerms& terms) {
  const TrainingPoint& point = answer.point;
  const OfferCost& first = answer.offers.front();
  std::string run =
      fmt::format("{} on {}, {}: {} costs {} {} by {} ({} h", point.model, ranks_text(point.ranks), point.platform,
                  answer.has_run ? "a run" : "a day of training", money_text(first.run.money), first.currency,
                  first.offer.name, grouped(first.hours, decimals_of(first.hours)));
  if (!std::isnan(first.run.joules))
    run += fmt::format(", {} kWh, {} kg CO2", number_or_nothing(first.run.joules, joules_of_a_kwh, 0),
                       number_or_nothing(first.run.grams, 1000, 0));
  std::string years = fmt::format("As much work as its nodes do in {} year{} at {:.3g} % utilisation costs {} {} by {}",
                                  terms.years, terms.years == 1 ? "" : "s", terms.utilisation * 100,
                                  money_text(first.years.money), first.currency, first.offer.name);
  const auto priciest = std::find_if(answer.offers.rbegin(), answer.offers.rend(),
                                     [&](const OfferCost& cost) { return cost.currency == first.currency; });
  if (&*priciest != &first) years += fmt::format(", {} by {}", money_text(priciest->years.money), priciest->offer.name);
  return {run + ").", years + "."};
}

std::string age_text(const OfferCost& cost) {
  if (!cost.months_old) return cost.offer.date;
  return cost.offer.date + (*cost.months_old > old_prices ? " (older than six months)" : "");
}

std::string years_text(const CostTerms& terms) {
  return fmt::format("{} year{}", terms.years, terms.years == 1 ? "" : "s");
}

Grid run_grid(const CostAnswer& answer) {
  Grid grid{answer.has_run ? "A run" : "A day of training",
            {{"offer", Align::left},
             {"prices of", Align::left},
             {"currency", Align::left},
             {"node hour"},
             {answer.has_run ? "a run" : "a day"},
             {"hours"},
             {"kWh"},
             {"kg CO2"}},
            {}};
  for (const OfferCost& cost : answer.offers) {
    grid.rows.push_back({Cell(cost.offer.name), Cell(age_text(cost)), Cell(cost.currency),
                         Cell(grouped(cost.node_hour, 2)),
                         Cell(money_text(cost.run.money) + (cost.has_minimum ? " (minimum)" : "")),
                         Cell(grouped(cost.hours, decimals_of(cost.hours))),
                         Cell(number_or_nothing(cost.run.joules, joules_of_a_kwh, 1)),
                         Cell(number_or_nothing(cost.run.grams, 1000, 1))});
  }
  return grid;
}

Grid years_grid(const CostAnswer& answer, const CostTerms& terms) {
  Grid grid{"The same work over years",
            {{"offer", Align::left}, {"currency", Align::left}, {years_text(terms)}, {"MWh"}, {"t CO2"}},
            {}};
  for (const OfferCost& cost : answer.offers) {
    grid.rows.push_back({Cell(cost.offer.name), Cell(cost.currency), Cell(grouped(cost.years.money, 0)),
                         Cell(number_or_nothing(cost.years.joules, 1000 * joules_of_a_kwh, 1)),
                         Cell(number_or_nothing(cost.years.grams, grams_of_a_tonne, 1))});
  }
  return grid;
}

/// Of those in the currency of the cheapest.
Record cost_chart(const CostAnswer& answer) {
  Record rows = Record::array();
  const OfferCost& first = answer.offers.front();
  for (const OfferCost& cost : answer.offers) {
    if (cost.currency == first.currency)
      rows.push_back({{"series", cost.offer.name}, {"x", cost.offer.name}, {"y", cost.years.money}});
  }
  return {{"axis", ""},     {"measure", "cost"}, {"unit", first.currency},
          {"share", false}, {"rows", rows},      {"accent", first.offer.name}};
}

Record bill_record(const Bill& bill) {
  const auto number = [](double value) { return std::isnan(value) ? Record() : Record(value); };
  return {{"cost", bill.money}, {"joules", number(bill.joules)}, {"grams_co2", number(bill.grams)}};
}

Record cost_record(const CostAnswer& answer, const CostTerms& terms) {
  Record offers = Record::array();
  for (const OfferCost& cost : answer.offers) {
    Record run = bill_record(cost.run);
    run["hours"] = cost.hours;
    run["has_minimum"] = cost.has_minimum;
    Record offer{{"offer", cost.offer.name},
                 {"kind", cost.offer.kind},
                 {"date", cost.offer.date},
                 {"months_old", cost.months_old ? Record(*cost.months_old) : Record()},
                 {"currency", cost.currency},
                 {"cost_per_node_hour", cost.node_hour},
                 {"run", run},
                 {"years", bill_record(cost.years)},
                 {"assumptions", cost.offer.assumptions}};
    if (!cost.set.is_null() && answer.has_run) offer["set"] = {{"/economics", cost.set}};
    offers.push_back(offer);
  }
  return {{"years", terms.years},
          {"utilisation", terms.utilisation},
          {"grams_co2_per_kwh", terms.grams_per_joule * joules_of_a_kwh},
          {"has_run", answer.has_run},
          {"runs", answer.runs},
          {"point", to_record(answer.point)},
          {"offers", offers}};
}

QuestionAnswer cost_answer(const CostAnswer& answer, const CostTerms& terms, const std::string& scenario) {
  QuestionAnswer result{
      "cost", scenario, cost_headline(answer, terms), {run_grid(answer), years_grid(answer, terms)}, {}, {},
      {},     {},       cost_record(answer, terms)};
  result.chart =
      Chart{"bars", "years", "The same work over " + years_text(terms) + ", in " + answer.offers.front().currency};
  result.drawn = cost_chart(answer);
  result.notes = {
      fmt::format(
          "years: as much work by every offer, as these nodes do in {} at {:.3g} % utilisation; machines that are "
          "bought or reserved draw power while idle, too",
          years_text(terms), terms.utilisation * 100),
      fmt::format(
          "CO2: {:.4g} g/kWh (--co2); 436 is the world's mean of 2022 by Ember, second-hand, assumed for every place",
          terms.grams_per_joule * joules_of_a_kwh)};
  if (answer.offers.front().currency != answer.offers.back().currency)
    result.notes.push_back(
        fmt::format("offers in {} come first and are not compared with the others: --exchange '0.92 "
                    "{}/{}' says what one is worth",
                    answer.offers.front().currency, answer.offers.front().currency, answer.offers.back().currency));
  if (!answer.has_run) result.notes.emplace_back("the scenario has no \"run\": a day of training stands for it");
  for (const OfferCost& cost : answer.offers) {
    if (!cost.offer.assumptions.empty())
      result.notes.push_back(fmt::format("{} assumes {}", cost.offer.name, listed(cost.offer.assumptions)));
    if (answer.has_run && !cost.set.is_null())
      result.options.push_back(cost.offer.name + ": --set " + shell_word("/economics=" + cost.set.dump()));
  }
  result.notes.insert(result.notes.end(), answer.notes.begin(), answer.notes.end());
  return result;
}

void answer_cost(const CostArguments& arguments) {
  check_forms(arguments.output, arguments.pages);
  const CostTerms terms = terms_of(arguments);
  Targets files;
  files.reads("the scenario", arguments.scenario.file);
  arguments.output.add_to(files);
  arguments.pages.add_to(files);
  files.check();
  const Catalogue catalogue;
  const Document document = arguments.scenario.read();
  const CostAnswer answer = arguments.cost.within(
      arguments.scenario.file, [&] { return CostQuestion(arguments, terms, document, catalogue).answer(); });
  write_question_answer(cost_answer(answer, terms, arguments.scenario.file), arguments.output, arguments.pages);
}

}  // namespace

void add_cost(CLI::App& app) {
  auto arguments = std::make_shared<CostArguments>();
  CLI::App* command = app.add_subcommand("cost", "Find money, energy, CO2 and hours of a run and of years");
  arguments->scenario.add_to(*command, "the scenario file; of a sweep, its last configuration counts");
  command
      ->add_option("--offer", arguments->offers,
                   "of topologies/offers/, or a file; may be repeated (default: all of such nodes)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--price", arguments->price, "your own price of a node, such as 20 USD/h")->type_name("PRICE");
  command->add_option("--years", arguments->years, "for the same work over years")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--utilisation", arguments->utilisation, "share of the time that nodes work, by every offer alike")
      ->type_name("SHARE")
      ->capture_default_str();
  command->add_option("--co2", arguments->co2, "of the electricity")->type_name("G")->capture_default_str();
  command->add_option("--exchange", arguments->exchange, "prices in another currency: 0.92 EUR/USD")->type_name("RATE");
  command->add_option("--on", arguments->on, "the month in which prices are said to be old (default: today's)")
      ->type_name("YYYY-MM");
  arguments->cost.add_network_to(*command);
  arguments->cost.add_to(*command);
  arguments->output.add_file_to(*command, "table or json");
  arguments->pages.add_to(*command);
  command->footer("Example:\n  farandole cost scenarios/buy-vs-build-llama3-8b.json --price '18 USD/h' --years 3");
  command->callback([arguments] { answer_cost(*arguments); });
}

}  // namespace farandole
