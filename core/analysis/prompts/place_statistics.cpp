#include "core/analysis/prompts/place_statistics.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace headscope::analysis {

namespace {

using PlaceJson = nlohmann::ordered_json;
using PlaceValues = std::vector<const PlaceJson*>;

/// The statistic that is combined: the mean or the spread.
using PlaceStatistic = double PlaceStatistics::*;

/// Combines the values at one place; nothing if they do not belong together.
class PlaceCombination {
public:
    explicit PlaceCombination(PlaceStatistic statistic) : statistic_(statistic) {}

    std::optional<PlaceJson> of(PlaceValues values) const {
        std::erase_if(values, [](const PlaceJson* value) { return value->is_null(); });
        if (values.empty())
            return PlaceJson();
        const auto all = [&](auto&& condition) { return std::ranges::all_of(values, condition); };
        if (all([](const PlaceJson* value) { return value->is_object(); }))
            return of_objects(values);
        if (all([](const PlaceJson* value) { return value->is_array(); }))
            return of_lists(values);
        if (all([](const PlaceJson* value) { return value->is_number(); }) &&
            !all([](const PlaceJson* value) { return value->is_number_integer(); }))
            return of_numbers(values);
        return all([&](const PlaceJson* value) { return *value == *values.front(); })
                   ? std::optional(*values.front())
                   : std::nullopt;
    }

private:
    std::optional<PlaceJson> of_numbers(const PlaceValues& values) const {
        std::vector<double> numbers;
        for (const PlaceJson* value : values)
            numbers.push_back(value->get<double>());
        return PlaceJson(statistics_of(numbers).*statistic_);
    }

    std::optional<PlaceJson> of_lists(const PlaceValues& values) const {
        const std::size_t size = values.front()->size();
        if (std::ranges::any_of(values, [&](const PlaceJson* value) { return value->size() != size; }))
            return std::nullopt;
        PlaceJson out = PlaceJson::array();
        for (std::size_t at = 0; at < size; ++at) {
            PlaceValues inner;
            for (const PlaceJson* value : values)
                inner.push_back(&(*value)[at]);
            auto combined = of(inner);
            if (!combined)
                return std::nullopt;
            out.push_back(std::move(*combined));
        }
        return out;
    }

    std::optional<PlaceJson> of_objects(const PlaceValues& values) const {
        PlaceJson out = PlaceJson::object();
        for (const auto& [key, first] : values.front()->items()) {
            PlaceValues inner;
            for (const PlaceJson* value : values)
                if (const auto found = value->find(key); found != value->end())
                    inner.push_back(&*found);
            auto combined = inner.size() == values.size() ? of(inner) : std::nullopt;
            if (combined)
                out[key] = std::move(*combined);
            else if (key == "name" || key == "id")
                return std::nullopt;
        }
        return out.empty() && !values.front()->empty() ? std::nullopt : std::optional(out);
    }

    PlaceStatistic statistic_;
};

PlaceJson combined_results(std::span<const PlaceJson> results, PlaceStatistic statistic) {
    PlaceValues values;
    for (const PlaceJson& result : results)
        values.push_back(&result);
    return PlaceCombination(statistic).of(values).value_or(PlaceJson());
}

} // namespace

PlaceStatistics statistics_of(std::span<const double> numbers) {
    if (numbers.empty())
        return {};
    const auto n = static_cast<double>(numbers.size());
    double sum = 0, squares = 0;
    for (const double number : numbers)
        sum += number;
    const double mean = sum / n;
    for (const double number : numbers)
        squares += (number - mean) * (number - mean);
    return {.mean = mean, .spread = std::sqrt(squares / n), .count = std::ssize(numbers)};
}

PlaceJson mean_of_results(std::span<const PlaceJson> results) {
    return combined_results(results, &PlaceStatistics::mean);
}

PlaceJson spread_of_results(std::span<const PlaceJson> results) {
    return combined_results(results, &PlaceStatistics::spread);
}

} // namespace headscope::analysis
