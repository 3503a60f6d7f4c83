#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"

#include <algorithm>

// Rows in a file of weights whose sum is not 1 for a valid reason: they are not errors, and are not shown as
// errors.

namespace headscope::test {
namespace {

bool any_warning_shown() {
    return std::ranges::any_of(screen_texts(), [](const ScreenText& text) {
        return text.text.find("⚠") != std::string::npos && text.text.find("engine") == std::string::npos;
    });
}

std::string put_rows(const TemporaryFolder& folder, const std::vector<float>& sums, bool sinks) {
    const auto T = std::ssize(sums);
    Tensor weights(Shape{1, 1, T, T}, 0.0F), left(Shape{1, 1, T});
    for (std::int64_t i = 0; i < T; ++i) {
        const float sum = sums[static_cast<std::size_t>(i)];
        weights.at(0, 0, i, 0) = sum / 2;
        weights.at(0, 0, i, i == 0 ? 1 : i) = sum / 2;
        left.at(0, 0, i) = 1 - sum;
    }
    format::SafetensorsWriter writer;
    writer.add("weights", std::make_shared<const Tensor>(std::move(weights)));
    if (sinks)
        writer.add("sink", std::make_shared<const Tensor>(std::move(left)));
    writer.set_metadata("tokens", R"(["a", "b", "c", "d"])");
    write_file_atomically(folder.file("rows.safetensors"), writer.bytes());
    return folder.file("rows.safetensors");
}

} // namespace

TEST_CASE("a row of zeros in a file of weights has no warning sign", "[gui][attention]") {
    begin_recording();
    const TemporaryFolder folder;
    User user;
    user.open(put_rows(folder, {1, 1, 0, 1}, false));
    user.act(ShowWeightsAs{WeightsView::heatmap});
    CHECK(screen_shows("0.00"));
    CHECK_FALSE(any_warning_shown());
    user.act(Select{CellAddress{TensorId::weights, {0, 0, 2, 0}}});
    CHECK_FALSE(any_warning_shown());
    // One that was cut keeps it.
    user.open(put_rows(folder, {1, 1, 0.6F, 1}, false));
    user.act(ShowWeightsAs{WeightsView::heatmap});
    CHECK(screen_shows("0.60⚠"));
    end_recording();
}

TEST_CASE("rows that a sink took a part of are no fault of the file that says so", "[gui][attention]") {
    begin_recording();
    const TemporaryFolder folder;
    User user;
    user.open(put_rows(folder, {1, 0.7F, 0.4F, 0.9F}, true));
    user.act(ShowWeightsAs{WeightsView::heatmap});
    CHECK(screen_shows("0.40"));
    CHECK_FALSE(any_warning_shown());
    user.act(Select{CellAddress{TensorId::weights, {0, 0, 2, 0}}});
    user.act(OpenInspector{true});
    CHECK(screen_shows("to the sink"));
    CHECK(screen_shows("0.6000"));
    CHECK_FALSE(screen_shows("This row was changed or cut"));
    end_recording();
}

} // namespace headscope::test
