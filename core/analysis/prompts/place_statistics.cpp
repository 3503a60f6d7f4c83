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

/// A number for all results at one place.
using PlaceStatistic = double (*)(const std::vector<double>& numbers);

double mean_at_place(const std::vector<double>& numbers) {
    double sum = 0;
    for (const double number : numbers)
        sum += number;
    return sum / static_cast<double>(numbers.size());
}

double spread_at_place(const std::vector<double>& numbers) {
    const double mean = mean_at_place(numbers);
    double squares = 0;
    for (const double number : numbers)
        squares += (number - mean) * (number - mean);
    return std::sqrt(squares / static_cast<double>(numbers.size()));
}

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
        return PlaceJson(statistic_(numbers));
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

PlaceJson mean_of_results(std::span<const PlaceJson> results) {
    return combined_results(results, mean_at_place);
}

PlaceJson spread_of_results(std::span<const PlaceJson> results) {
    return combined_results(results, spread_at_place);
}

} // namespace headscope::analysis
