#include "report/cost_record.hpp"

namespace farandole {
namespace {

template <class T>
double plain(T amount, std::string_view key) {
  return finite(amount.plain(), key);
}

Record to_record(const CostSensitivity& input) {
  return {{"input", input.input},
          {"low", input.low},
          {"high", input.high},
          {"cost_per_sample_at_low", plain(input.at_low, "cost_per_sample_at_low")},
          {"cost_per_sample_at_high", plain(input.at_high, "cost_per_sample_at_high")}};
}

/// "break_even_utilisation" is null where there is none.
Record to_record(const CostComparison& elsewhere) {
  Record record{{"offer", elsewhere.offer},
                {"platform", elsewhere.platform},
                {"cost_per_sample", plain(elsewhere.per_sample, "cost_per_sample")},
                {"break_even_utilisation", nullptr}};
  if (elsewhere.break_even_utilisation) {
    record["break_even_utilisation"] = finite(*elsewhere.break_even_utilisation, "break_even_utilisation");
  }
  return record;
}

template <class T>
void add(Record& record, const char* key, const std::optional<T>& amount) {
  if (amount) record[key] = plain(*amount, key);
}

template <class T>
T amount(const Record& record, const char* key) {
  return T(record.at(key).get<double>());
}

template <class T>
std::optional<T> maybe(const Record& record, const char* key) {
  return record.contains(key) ? std::optional(amount<T>(record, key)) : std::nullopt;
}

CostComparison comparison(const Record& record) {
  CostComparison elsewhere{record.at("offer"), record.at("platform"), amount<Money>(record, "cost_per_sample"), {}};
  const Record& share = record.at("break_even_utilisation");
  if (!share.is_null()) elsewhere.break_even_utilisation = share.get<double>();
  return elsewhere;
}

CostSensitivity sensitivity(const Record& record) {
  return {record.at("input"), record.at("low"), record.at("high"), amount<Money>(record, "cost_per_sample_at_low"),
          amount<Money>(record, "cost_per_sample_at_high")};
}

}  // namespace

Record to_record(const JobCost& cost) {
  Record record{{"offer", cost.offer},
                {"kind", cost.kind},
                {"date", cost.date},
                {"currency", cost.currency},
                {"utilisation", finite(cost.utilisation, "utilisation")},
                {"stretch", finite(cost.stretch, "stretch")},
                {"cost_per_node_second", plain(cost.node, "cost_per_node_second")},
                {"node_watts", plain(cost.node_power, "node_watts")},
                {"cost_per_sample", plain(cost.per_sample, "cost_per_sample")},
                {"joules_per_sample", plain(cost.energy_per_sample, "joules_per_sample")}};
  add(record, "cost_per_epoch", cost.per_epoch);
  add(record, "joules_per_epoch", cost.energy_per_epoch);
  add(record, "cost_per_run", cost.per_run);
  add(record, "joules_per_run", cost.energy_per_run);
  if (cost.node_time) record["node_seconds_per_run"] = finite(cost.node_time->si(), "node_seconds_per_run");
  record["total_cost_by_year"] = Record::array();
  for (const Money total : cost.totals) record["total_cost_by_year"].push_back(plain(total, "total_cost_by_year"));
  record["sensitivity"] = Record::array();
  for (const CostSensitivity& input : cost.sensitivity) record["sensitivity"].push_back(to_record(input));
  if (cost.comparison) record["compared_with"] = to_record(*cost.comparison);
  record["assumptions"] = cost.assumptions;
  return record;
}

JobCost job_cost(const Record& record) {
  JobCost cost;
  cost.offer = record.at("offer");
  cost.kind = record.at("kind");
  cost.date = record.at("date");
  cost.currency = record.at("currency");
  cost.utilisation = record.at("utilisation");
  cost.stretch = record.at("stretch");
  cost.node = amount<MoneyPerSecond>(record, "cost_per_node_second");
  cost.node_power = amount<Watts>(record, "node_watts");
  cost.per_sample = amount<Money>(record, "cost_per_sample");
  cost.energy_per_sample = amount<Joules>(record, "joules_per_sample");
  cost.per_epoch = maybe<Money>(record, "cost_per_epoch");
  cost.energy_per_epoch = maybe<Joules>(record, "joules_per_epoch");
  cost.per_run = maybe<Money>(record, "cost_per_run");
  cost.energy_per_run = maybe<Joules>(record, "joules_per_run");
  cost.node_time = maybe<Seconds>(record, "node_seconds_per_run");
  for (const Record& total : record.at("total_cost_by_year")) cost.totals.push_back(Money(total.get<double>()));
  for (const Record& input : record.at("sensitivity")) cost.sensitivity.push_back(sensitivity(input));
  if (record.contains("compared_with")) cost.comparison = comparison(record.at("compared_with"));
  cost.assumptions = record.at("assumptions").get<std::vector<std::string>>();
  return cost;
}

}  // namespace farandole
