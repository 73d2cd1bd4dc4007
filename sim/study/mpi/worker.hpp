// A worker of an MPI team: does the manager's tasks, one after the other, in a forked process.
//
// Called by study/mpi/mpi_team.cpp. The rank itself only carries messages, so that it is heard of while a task is under
// way and survives its crash; the forked process never touches MPI.
#pragma once

#include <string>

#include "study/forked_worker.hpp"
#include "study/mpi/messages.hpp"

namespace farandole {

/// Until the manager says that it is over; returns what it said. std::runtime_error where it falls silent.
std::string work_for_manager(Mailbox& mailbox, const std::string& identity, const Work& work);

/// Tells the manager that this rank cannot work, and waits for the end; returns what it said, or that it said nothing.
std::string refuse_to_work(Mailbox& mailbox);

}  // namespace farandole
