// Horovod's coordinator, rebuilt: requests as they travel, and the table in which rank 0 counts and compares them.
//
// Called by coordinator_bench.cpp. A request is a table of offsets as FlatBuffers lay it out: rank, type, operation,
// root, device, name and a shape of four numbers.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace farandole::bench {

using Bytes = std::vector<char>;
using Clock = std::chrono::steady_clock;

struct Request {
  std::int32_t rank = 0;
  std::int32_t kind = 0;
  std::int32_t type = 0;
  std::int32_t root = 0;
  std::int32_t device = 0;
  std::string name;
  std::vector<std::int64_t> shape;
};

template <class T>
void put(Bytes& bytes, T value) {
  const char* begin = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

template <class T>
T get(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// A table: where its fields are, then the fields.
inline void put_request(Bytes& bytes, const Request& request) {
  const std::size_t begin = bytes.size();
  for (std::uint16_t field = 0; field < 5; ++field)
    put<std::uint16_t>(bytes, static_cast<std::uint16_t>(14 + 4 * field));
  put<std::uint16_t>(bytes, 34);
  put<std::uint16_t>(bytes, static_cast<std::uint16_t>(38 + request.name.size()));
  for (const std::int32_t number : {request.rank, request.kind, request.type, request.root, request.device}) {
    put(bytes, number);
  }
  put(bytes, static_cast<std::uint32_t>(request.name.size()));
  bytes.insert(bytes.end(), request.name.begin(), request.name.end());
  put(bytes, static_cast<std::uint32_t>(request.shape.size()));
  for (const std::int64_t length : request.shape) put(bytes, length);
  while ((bytes.size() - begin) % 8 != 0) bytes.push_back(0);
}

inline Request read_request(const char* table) {
  const auto field = [table](int index) { return table + get<std::uint16_t>(table + 2 * index); };
  Request request;
  request.rank = get<std::int32_t>(field(0));
  request.kind = get<std::int32_t>(field(1));
  request.type = get<std::int32_t>(field(2));
  request.root = get<std::int32_t>(field(3));
  request.device = get<std::int32_t>(field(4));
  const char* name = field(5);
  request.name.assign(name + 4, get<std::uint32_t>(name));
  const char* shape = field(6);
  const auto dimensions = get<std::uint32_t>(shape);
  for (std::uint32_t i = 0; i < dimensions; ++i) request.shape.push_back(get<std::int64_t>(shape + 4 + 8 * i));
  return request;
}

/// A list: how many, where each begins, and they.
inline Bytes list_of(const std::vector<Request>& requests) {
  Bytes bytes;
  put(bytes, static_cast<std::uint32_t>(requests.size()));
  bytes.resize(4 + 4 * requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto begin = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data() + 4 + 4 * i, &begin, sizeof begin);
    put_request(bytes, requests[i]);
  }
  return bytes;
}

inline std::vector<Request> read_list(const char* list) {
  std::vector<Request> requests;
  const auto count = get<std::uint32_t>(list);
  for (std::uint32_t i = 0; i < count; ++i)
    requests.push_back(read_request(list + get<std::uint32_t>(list + 4 + 4 * i)));
  return requests;
}

struct Response {
  std::string name;
  std::vector<std::int32_t> devices;
  std::string error;
};

class Coordinator {
 public:
  explicit Coordinator(int ranks) : ranks_(ranks) {}

  /// Whether all ranks have announced it.
  bool count(const Request& request) {
    auto found = table_.find(request.name);
    if (found == table_.end()) {
      std::vector<Request> requests;
      requests.reserve(static_cast<std::size_t>(ranks_));
      found = table_.emplace(request.name, std::make_tuple(std::move(requests), Clock::now())).first;
    }
    auto& requests = std::get<0>(found->second);
    requests.push_back(request);
    return static_cast<int>(requests.size()) == ranks_;
  }

  Response respond(const std::string& name) {
    const auto found = table_.find(name);
    const std::vector<Request>& requests = std::get<0>(found->second);
    Response response{name, std::vector<std::int32_t>(requests.size()), {}};
    const auto agree = [&](const std::function<bool(const Request&, const Request&)>& same) {
      for (std::size_t i = 1; i < requests.size(); ++i) {
        if (!same(requests.front(), requests[i])) response.error = "mismatch";
      }
    };
    agree([](const Request& a, const Request& b) { return a.type == b.type; });
    agree([](const Request& a, const Request& b) { return a.kind == b.kind; });
    agree([](const Request& a, const Request& b) { return a.shape == b.shape; });
    agree([](const Request& a, const Request& b) { return (a.device < 0) == (b.device < 0); });
    for (const Request& request : requests) response.devices[static_cast<std::size_t>(request.rank)] = request.device;
    table_.erase(found);
    return response;
  }

 private:
  int ranks_;
  std::unordered_map<std::string, std::tuple<std::vector<Request>, Clock::time_point>> table_;
};

}  // namespace farandole::bench
