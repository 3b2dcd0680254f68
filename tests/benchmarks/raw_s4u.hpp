// The ASP job of benchmark_job.hpp as one would write it on plain S4U: an actor for each worker and one for
// the server, mailboxes between them. No coordinator, no policies, no results: a floor to compare with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace paceline::benchmarks {

// Simulates; returns the simulated seconds.
[[nodiscard]] double raw_s4u_asp(std::size_t workers, std::int64_t worker_iterations);

// The same with the parameters in equal shards on several servers, on racks of workers whose uplinks have 10
// Gbit/s and 50 us; the servers hang on the core.
[[nodiscard]] double raw_s4u_sharded(std::size_t workers, std::size_t servers, std::size_t racks,
                                     std::int64_t worker_iterations);

}  // namespace paceline::benchmarks
