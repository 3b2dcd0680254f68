// A worker process of a live job, or its evaluator: connects to the server, computes what it is asked for.
//
// Models:      one connection, one compute thread. The gradient of the newest request is computed; one that
//              is called off while it waits is skipped, one under way is finished and sent all the same.
// Assumptions: it ends when the server asks it to, when the connection breaks, or when its parent dies (the
//              launcher sets that for local processes): a watching thread ends it in the middle of a
//              computation.
#pragma once

#include <string>
#include <vector>

namespace paceline::live {

// `words`: what follows worker_flag, the server and the number. Returns the exit code.
int run_worker_process(const std::vector<std::string>& words);

}  // namespace paceline::live
