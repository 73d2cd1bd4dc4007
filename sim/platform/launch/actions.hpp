// What options of launch lines do to a Reading: the third column of the launchers' tables.
#pragma once

#include "platform/launch/launcher.hpp"

namespace farandole::launch {

void ignore(Reading& reading, const Given& option);
/// For options that change what runs where in a way that cannot be followed here.
void refuse(Reading& reading, const Given& option);

void set_ranks(Reading& reading, const Given& option);
void set_ranks_per_node(Reading& reading, const Given& option);
void set_one_rank_per_node(Reading& reading, const Given& option);  // -pernode
void set_by_node(Reading& reading, const Given& option);            // -bynode
void set_mapping(Reading& reading, const Given& option);            // --map-by slot | node | ppr:4:node
void add_hosts(Reading& reading, const Given& option);              // a:4,b:4

/// VAR=VALUE; VAR VALUE; or VAR alone, which exports what stands before the launcher.
void set_variable(Reading& reading, const Given& option);
/// The row's variable becomes the argument, 1, 0, or the argument's number of MiB in bytes.
void set_text(Reading& reading, const Given& option);
void set_on(Reading& reading, const Given& option);
void set_off(Reading& reading, const Given& option);
void set_gloo(Reading& reading, const Given& option);
void set_number(Reading& reading, const Given& option);
void set_mebibytes(Reading& reading, const Given& option);

}  // namespace farandole::launch
