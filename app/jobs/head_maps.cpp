#include "app/jobs/head_maps.h"

#include "core/base/message.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

namespace headscope::app {

namespace {

HeadGridRow read_row(const AttentionSet& set, std::int64_t l, const Progress& progress) {
    HeadGridRow row{.version = next_row_version()};
    try {
        row.heads = analysis::head_maps(set, l, analysis::map_side(set.info()), progress);
    } catch (const std::bad_alloc&) {
        row.error = tr("head_maps.layer_needs_more_memory",
                       "Not enough free memory for this layer; close other programs.");
    } catch (const std::exception& fault) {
        progress.check();
        row.error = fault.what();
    }
    return row;
}

} // namespace

std::uint64_t next_row_version() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

HeadMaps::HeadMaps(AttentionSetPtr set, std::function<void()> wake)
    : set_(std::move(set)), before_(static_cast<std::size_t>(set_->info().L)),
      taken_over_(before_.size(), false), values_(std::move(wake)) {
    for (std::int64_t l = 0; l < set_->info().L; ++l) {
        missing_.push_back(l);
        want(l, Priority::background);
    }
}

HeadMaps::HeadMaps(AttentionSetPtr set, std::function<void()> wake, const HeadMaps& before,
                   std::int64_t changed_from)
    : set_(std::move(set)), before_(static_cast<std::size_t>(set_->info().L)),
      taken_over_(before_.size(), false), values_(std::move(wake)) {
    for (std::int64_t l = 0; l < set_->info().L; ++l) {
        const auto at = static_cast<std::size_t>(l);
        before_[at] = before.row(l);
        taken_over_[at] = l < changed_from &&
                          (before.taken_over_[at] || before.values_.peek<HeadGridRow>(before.key(l)).done);
        if (taken_over_[at])
            continue;
        missing_.push_back(l);
        want(l, Priority::background);
    }
}

std::shared_ptr<const HeadGridRow> HeadMaps::row(std::int64_t l) const {
    const Derived<HeadGridRow> read = values_.peek<HeadGridRow>(key(l));
    return read.value != nullptr ? read.value : before_[static_cast<std::size_t>(l)];
}

std::int64_t HeadMaps::ready() const {
    std::erase_if(missing_, [&](std::int64_t l) { return values_.peek<HeadGridRow>(key(l)).done; });
    return set_->info().L - std::ssize(missing_);
}

void HeadMaps::prioritize(std::int64_t open, std::int64_t first, std::int64_t last) {
    const std::int64_t end = set_->info().L - 1;
    values_.begin_frame();
    want(std::clamp<std::int64_t>(open, 0, end), Priority::on_screen);
    for (std::int64_t l = std::clamp<std::int64_t>(first, 0, end); l <= std::min(last, end); ++l)
        want(l, Priority::on_screen);
}

void HeadMaps::want(std::int64_t l, Priority urgency) {
    if (!taken_over_[static_cast<std::size_t>(l)])
        values_.ask<HeadGridRow>(key(l), urgency, [set = set_, l](Progress& progress, const auto&) {
            return read_row(*set, l, progress);
        });
}

} // namespace headscope::app
