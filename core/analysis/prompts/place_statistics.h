#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace headscope::analysis {

/// Statistics over the numbers that results have at one place.
struct PlaceStatistics {
    double mean = 0;        ///< sum(x) / n; 0 without a number
    double spread = 0;      ///< the standard deviation, sqrt(sum((x - mean)^2) / n)
    std::int64_t count = 0; ///< n, the results that have a number there
};
PlaceStatistics statistics_of(std::span<const double> numbers);

// Statistics over results of the same form, number by number: two numbers belong together if they have the
// same place, that is the same path of keys and indices. Only numbers with a fraction or an exponent in JSON
// (0.5, 2.0) are measured; whole numbers, such as ids, layers and positions, texts and truth values are
// names. A name that all results share is kept, and every other name is left out. Left out as well are lists
// of different lengths, and objects with different values of "name" or "id", which are not the same thing. A
// place that is null in some results is measured over the others.

/// Returns the mean at every place, in the form of the results; null if nothing is left. results: at least
/// one.
nlohmann::ordered_json mean_of_results(std::span<const nlohmann::ordered_json> results);
/// Returns the standard deviation over the n results at every place, sqrt(sum (x - mean)^2 / n), in the same
/// form.
nlohmann::ordered_json spread_of_results(std::span<const nlohmann::ordered_json> results);

} // namespace headscope::analysis
