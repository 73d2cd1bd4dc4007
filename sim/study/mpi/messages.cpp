#include "study/mpi/messages.hpp"

#include <thread>

namespace farandole { inline namespace study {

struct Mailbox::Sending {
  std::string text;
  MPI_Request request = MPI_REQUEST_NULL;
};

Mailbox::Mailbox() {
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
  // That a rank is gone is not the end of the others.
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &ranks_);
}

// The communicator stays until MPI ends: to free it, all ranks would have to be there.
Mailbox::~Mailbox() = default;

std::optional<TeamMessage> Mailbox::look() {
  int is_there = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status;
  if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &is_there, &handle, &status) != MPI_SUCCESS) return {};
  if (is_there == 0) return {};
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  TeamMessage message{status.MPI_SOURCE, static_cast<Tag>(status.MPI_TAG),
                      std::string(static_cast<std::size_t>(size), 0)};
  if (MPI_Mrecv(message.text.data(), size, MPI_CHAR, &handle, &status) != MPI_SUCCESS) return {};
  return message;
}

void Mailbox::send(int rank, Tag tag, const std::string& text) {
  forget_what_was_sent();
  Sending& sending = *sending_.emplace_back(std::make_unique<Sending>());
  sending.text = text;
  MPI_Isend(sending.text.data(), static_cast<int>(sending.text.size()), MPI_CHAR, rank, static_cast<int>(tag),
            communicator_, &sending.request);
}

void Mailbox::flush(std::chrono::milliseconds patience) {
  using std::chrono::steady_clock;
  for (const auto end = steady_clock::now() + patience; steady_clock::now() < end;) {
    forget_what_was_sent();
    if (sending_.empty()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Mailbox::forget_what_was_sent() {
  std::erase_if(sending_, [](const auto& sending) {
    int is_done = 0;
    return MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_done != 0;
  });
}

}}  // namespace farandole::study
