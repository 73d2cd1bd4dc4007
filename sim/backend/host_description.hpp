// What a rank says of the machine it runs on; every session's description holds it.
#pragma once

#include <string>
#include <vector>

#include "backend/endpoint.hpp"

namespace farandole {

/// "node17".
std::string host_name();
/// "Linux 6.1.0 x86_64".
std::string system_of_this_machine();
/// The processors this rank may run on: "0-3,8".
std::string binding();

/// Every rank's text, cut to 160 bytes, in order of rank; every rank calls it.
std::vector<std::string> everyones_text(Endpoint& endpoint, const std::string& text);

/// Nodes numbered in order of their first rank, by the names of their hosts; one per rank.
std::vector<int> nodes_by_host(Endpoint& endpoint);

}  // namespace farandole
