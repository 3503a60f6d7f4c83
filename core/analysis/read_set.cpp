#include "core/analysis/read_set.h"

#include "core/analysis/heads/mean_weights.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::analysis {

namespace {

using Strings = std::vector<std::string>;

/// Whether sequences may have tokens of their own each.
std::int64_t lists_in(const AttentionSet& set) {
    return set.info().axis == SetAxis::sequences ? set.info().L : 1;
}

/// The places that are left of `count` tokens, whose texts may not be known.
std::vector<text::TokenRun> kept_places(const Strings& pieces, std::int64_t count,
                                        const ReadingOptions& options) {
    std::vector<text::TokenRun> places;
    if (pieces.empty() || !options.merge_words) {
        places.resize(static_cast<std::size_t>(count));
        for (std::int64_t n = 0; n < count; ++n)
            places[static_cast<std::size_t>(n)] = {n, 1};
    } else {
        places = text::group_pieces_into_words(pieces);
    }
    if (options.hide_special_tokens && !pieces.empty())
        std::erase_if(places, [&](const text::TokenRun& place) {
            return text::is_special_token(pieces[static_cast<std::size_t>(place.first)]);
        });
    return places;
}

/// Of one head in all layers: what is kept for a rollout, twice.
constexpr std::int64_t most_passed_weights = std::int64_t{1} << 25U;

using PlacesOf = const std::vector<text::TokenRun>& (ReadSet::*)(std::int64_t) const;

std::optional<std::int64_t> same_place(const AttentionSet& from, const AttentionSet& to, std::int64_t l,
                                       std::int64_t place, PlacesOf places_of) {
    if (const auto* read = dynamic_cast<const ReadSet*>(&from)) {
        const std::vector<text::TokenRun>& places = (read->*places_of)(l);
        if (place >= static_cast<std::int64_t>(places.size()))
            return std::nullopt;
        place = places[static_cast<std::size_t>(place)].first;
    }
    const auto* read = dynamic_cast<const ReadSet*>(&to);
    if (read == nullptr)
        return place;
    const std::vector<text::TokenRun>& places = (read->*places_of)(l);
    const auto found = std::ranges::find_if(places, [&](const text::TokenRun& run) {
        return run.first <= place && place < run.first + run.count;
    });
    if (found == places.end())
        return std::nullopt;
    return found - places.begin();
}

} // namespace

ReadSet::ReadSet(AttentionSetPtr held, const ReadingOptions& options, std::shared_ptr<const Progress> stop)
    : held_(std::move(held)), options_(options), stop_(std::move(stop)), info_(held_->info()) {
    std::size_t Tq = 0, Tk = 0;
    for (std::int64_t l = 0; l < lists_in(*held_); ++l) {
        places_.push_back(places_of(l));
        Tq = std::max(Tq, places_.back().queries.size());
        Tk = std::max(Tk, places_.back().keys.size());
    }
    if (Tq == 0 || Tk == 0)
        fail_input(
            Tq == 0
                ? tr("read_set.every_query_special_token",
                     "Every query of {} is a special token: hiding them would leave nothing, so they stay.",
                     info_.title)
                : tr("read_set.every_key_special_token",
                     "Every key of {} is a special token: hiding them would leave nothing, so they stay.",
                     info_.title));
    info_.Tq = static_cast<std::int64_t>(Tq);
    info_.Tk = static_cast<std::int64_t>(Tk);
    for (Places& one : places_) {
        if (!one.query_tokens.empty())
            one.query_tokens.resize(Tq, "—");
        if (!one.key_tokens.empty())
            one.key_tokens.resize(Tk, "—");
    }
    info_.reading = reading_note(options_);
    info_.renormalised = options_.renormalises();
    info_.values = false;
    lengths_.resize(static_cast<std::size_t>(info_.L));
    if (passes_on()) {
        info_.made_head = options_.rollout ? translatable("read_set.rollout", "rollout")
                                           : translatable("read_set.flow", "flow");
        passed_on_ = std::make_unique<PassedOn>(
            info_.Tq, [this](std::int64_t l, std::span<float> to) { read_mean(l, to); });
    } else if (options_.means) {
        info_.made_head = info_.H > 1 ? translatable("common.mean_2", "mean") : Message{};
        info_.mean_layer = info_.axis == SetAxis::layers && info_.L > 1;
    }
    info_.H += info_.made_head.empty() ? 0 : 1;
    if (info_.mean_layer) {
        ++info_.L;
        info_.numbers.push_back(-1);
    }
}

ReadSet::Places ReadSet::places_of(std::int64_t l) const {
    const AttentionInfo& held = held_->info();
    const Strings &pieces = held_->query_pieces(l), &key_pieces = held_->key_pieces(l);
    const Strings &tokens = held_->query_tokens(l), &key_tokens = held_->key_tokens(l);
    Places places;
    places.queries = kept_places(pieces, held.Tq, options_);
    places.keys = kept_places(key_pieces, held.Tk, options_);
    places.own_keys = held.Tq != held.Tk || &tokens != &key_tokens;
    if (!tokens.empty())
        places.query_tokens = text::joined_words(pieces, tokens, places.queries);
    if (places.own_keys && !key_tokens.empty())
        places.key_tokens = text::joined_words(key_pieces, key_tokens, places.keys);
    return places;
}

const ReadSet::Places& ReadSet::places(std::int64_t l) const {
    return places_.size() == 1 ? places_.front() : places_[static_cast<std::size_t>(l)];
}

const Strings& ReadSet::query_tokens(std::int64_t l) const {
    return places(l).query_tokens;
}

const Strings& ReadSet::key_tokens(std::int64_t l) const {
    return places(l).own_keys ? places(l).key_tokens : places(l).query_tokens;
}

std::vector<bool> ReadSet::padding(std::int64_t l) const {
    const bool over_layers = info_.mean_layer && l == info_.L - 1; // which all have the same tokens
    const std::vector<bool> held = held_->padding(over_layers ? 0 : l);
    if (held.empty())
        return {};
    std::vector<bool> padding(static_cast<std::size_t>(info_.Tq), false);
    const std::vector<text::TokenRun>& at = queries(l);
    for (std::size_t r = 0; r < at.size(); ++r)
        padding[r] = held[static_cast<std::size_t>(at[r].first)];
    return padding;
}

TensorPtr ReadSet::lengths_of(std::int64_t l) const {
    if (!options_.norm_weighted)
        return nullptr;
    const std::scoped_lock lock(mutex_);
    TensorPtr& lengths = lengths_[static_cast<std::size_t>(l)];
    if (lengths == nullptr)
        lengths = held_->brought(l);
    return lengths;
}

std::span<const float> ReadSet::lengths_of_head(const TensorPtr& lengths, std::int64_t h) const {
    const auto Tk = static_cast<std::size_t>(held_->info().Tk);
    return lengths == nullptr ? std::span<const float>()
                              : lengths->values().subspan(static_cast<std::size_t>(h) * Tk, Tk);
}

void ReadSet::read_into(std::int64_t l, std::span<const float> held, std::int64_t held_from,
                        std::span<const float> lengths, std::int64_t first, std::span<float> to) const {
    const std::int64_t Tk = held_->info().Tk;
    const Places& at = places(l);
    std::ranges::fill(to, 0.0F);
    Eigen::ArrayXd row(Tk), read(static_cast<Eigen::Index>(at.keys.size()));
    const std::int64_t end = std::min(first + std::ssize(to) / info_.Tk, std::ssize(at.queries));
    for (std::int64_t r = first; r < end; ++r) {
        const text::TokenRun& pieces = at.queries[static_cast<std::size_t>(r)];
        row.setZero();
        std::int64_t reading = 0; // pieces that read anything
        for (std::int64_t i = pieces.first; i < pieces.first + pieces.count; ++i) {
            const ConstNumbers piece(held.data() + (i - held_from) * Tk, Tk);
            row += piece.cast<double>();
            reading += (piece == 0.0F).all() ? 0 : 1;
        }
        if (reading == 0)
            continue;
        row /= static_cast<double>(reading);
        // NaN is no softmax's either.
        const double total = row.sum();
        const bool proper = std::isfinite(total) && !info_.is_off(total);
        // A sink takes weight and brings nothing.
        const double sink = info_.sinks && lengths.empty() ? std::max(0.0, 1.0 - total) : 0.0;
        if (!lengths.empty() && proper)
            row *= ConstNumbers(lengths.data(), Tk).cast<double>();
        if (options_.hide_first_token)
            row[0] = 0;
        for (std::size_t c = 0; c < at.keys.size(); ++c)
            read[static_cast<Eigen::Index>(c)] = row.segment(at.keys[c].first, at.keys[c].count).sum();
        const double left = read.sum();
        if (options_.renormalises() && proper && left > 0)
            read /= left + sink;
        MutableNumbers(to.data() + (r - first) * info_.Tk, read.size()) = read.cast<float>();
    }
}

void ReadSet::read_held(std::int64_t l, std::int64_t h, std::int64_t first, std::span<float> to) const {
    const std::vector<text::TokenRun>& queries = places(l).queries;
    const std::int64_t end = std::min(first + std::ssize(to) / info_.Tk, std::ssize(queries));
    if (first >= end) { // a shorter sequence has ended
        std::ranges::fill(to, 0.0F);
        return;
    }
    const text::TokenRun& last = queries[static_cast<std::size_t>(end - 1)];
    const std::int64_t from = queries[static_cast<std::size_t>(first)].first,
                       count = last.first + last.count - from, Tk = held_->info().Tk;
    std::vector<float> held(static_cast<std::size_t>(count * Tk));
    held_->read_part(l, h, {from, 0, count, Tk}, held);
    read_into(l, held, from, lengths_of_head(lengths_of(l), h), first, to);
}

void ReadSet::read_mean(std::int64_t l, std::span<float> to) const {
    MeanWeights mean(info_.Tq, info_.Tk);
    std::vector<float> read(cells());
    for (std::int64_t h = 0; h < held_->info().H; ++h) {
        check_stop();
        read_held(l, h, 0, read);
        mean.add(read);
    }
    mean.write(to);
}

void ReadSet::read_made(std::int64_t l, std::span<float> to) const {
    if (options_.rollout)
        passed_on_->rollout(l, to);
    else
        passed_on_->flow(l, to, stop_.get());
}

std::size_t ReadSet::held_cells() const {
    return static_cast<std::size_t>(held_->info().Tq * held_->info().Tk);
}

void ReadSet::check_stop() const {
    if (stop_ != nullptr)
        stop_->check();
}

void ReadSet::read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const {
    const bool made = h >= info_.own_heads() && passes_on();
    if (!made && part.cols == info_.Tk)
        return read_rows(l, h, part.row, to);
    // A row is read whole, whichever keys of it are wanted, and a rollout or a flow for all rows at once.
    const std::int64_t first = made ? 0 : part.row, rows = made ? info_.Tq : part.rows;
    Tensor whole(Shape{1, 1, rows, info_.Tk});
    if (made)
        read_made(l, whole.values());
    else
        read_rows(l, h, first, whole.values());
    copy_part(whole, 0, {part.row - first, part.col, part.rows, part.cols}, to);
}

void ReadSet::read_rows(std::int64_t l, std::int64_t h, std::int64_t first, std::span<float> to) const {
    const bool over_layers = info_.mean_layer && l == info_.L - 1;
    const bool over_heads = h >= info_.own_heads();
    if (!over_layers && !over_heads)
        return read_held(l, h, first, to);
    MeanWeights mean(std::ssize(to) / info_.Tk, info_.Tk);
    const std::int64_t first_l = over_layers ? 0 : l, last_l = over_layers ? info_.L - 2 : l;
    const std::int64_t first_h = over_heads ? 0 : h, last_h = over_heads ? info_.H - 2 : h;
    for (std::int64_t from_l = first_l; from_l <= last_l; ++from_l)
        for (std::int64_t from_h = first_h; from_h <= last_h; ++from_h) {
            check_stop();
            if (over_layers && !held_->info().has_weights(from_l))
                continue;
            read_held(from_l, from_h, first, to);
            mean.add(to);
        }
    mean.write(to);
}

TensorPtr ReadSet::layer(std::int64_t l) const {
    auto out = std::make_shared<Tensor>(Shape{1, info_.H, info_.Tq, info_.Tk});
    const auto head = [&](std::int64_t h) {
        return out->values().subspan(static_cast<std::size_t>(h) * cells(), cells());
    };
    const std::int64_t heads = held_->info().H;
    const bool mean_head = !info_.made_head.empty() && !passes_on();
    MeanWeights over_heads(mean_head ? info_.Tq : 0, info_.Tk);
    if (info_.mean_layer && l == info_.L - 1) {
        // Layer by layer for as many heads as there is room for: a layer may have to be computed each time.
        constexpr std::size_t most_bytes = std::size_t{128} << 20U;
        const auto at_once =
            static_cast<std::int64_t>(std::max<std::size_t>(1, most_bytes / (sizeof(double) * cells())));
        std::vector<float> read(cells());
        for (std::int64_t first = 0; first < heads; first += at_once) {
            const std::int64_t count = std::min(at_once, heads - first);
            std::vector<MeanWeights> over_layers(static_cast<std::size_t>(count),
                                                 MeanWeights(info_.Tq, info_.Tk));
            for (std::int64_t from = 0; from < held_->info().L; ++from)
                for (std::int64_t n = 0; held_->info().has_weights(from) && n < count; ++n) {
                    check_stop();
                    read_held(from, first + n, 0, read);
                    over_layers[static_cast<std::size_t>(n)].add(read);
                    if (mean_head)
                        over_heads.add(read);
                }
            for (std::int64_t n = 0; n < count; ++n)
                over_layers[static_cast<std::size_t>(n)].write(head(first + n));
        }
    } else {
        const TensorPtr held = held_->layer(l), lengths = lengths_of(l);
        for (std::int64_t h = 0; h < heads; ++h) {
            check_stop();
            read_into(l, held->values().subspan(static_cast<std::size_t>(h) * held_cells(), held_cells()), 0,
                      lengths_of_head(lengths, h), 0, head(h));
            if (mean_head)
                over_heads.add(head(h));
        }
    }
    if (mean_head)
        over_heads.write(head(heads));
    else if (passes_on())
        read_made(l, head(heads));
    return out;
}

std::optional<std::int64_t> same_query(const AttentionSet& from, const AttentionSet& to, std::int64_t l,
                                       std::int64_t query) {
    return same_place(from, to, l, query, &ReadSet::queries);
}

std::optional<std::int64_t> same_key(const AttentionSet& from, const AttentionSet& to, std::int64_t l,
                                     std::int64_t key) {
    return same_place(from, to, l, key, &ReadSet::keys);
}

ReadingOptions readings_that_act(const AttentionSet& set) {
    const AttentionInfo& info = set.info();
    const bool passes_on = info.axis == SetAxis::layers && info.L > 1 && info.Tq == info.Tk && !info.cross &&
                           std::ranges::find(info.without_weights, true) == info.without_weights.end();
    const std::int64_t passed = info.L * info.Tq * info.Tk;
    ReadingOptions acts{.norm_weighted = info.values,
                        .hide_first_token = info.Tk > 1,
                        .rollout = passes_on && passed <= most_passed_weights,
                        .flow = passes_on && info.Tq <= PassedOn::most_flow_tokens};
    acts.means = info.H > 1 || (info.axis == SetAxis::layers && info.L > 1);
    for (std::int64_t l = 0; l < lists_in(set); ++l)
        for (const Strings* pieces : {&set.query_pieces(l), &set.key_pieces(l)}) {
            acts.hide_special_tokens =
                acts.hide_special_tokens || std::ranges::any_of(*pieces, [](const std::string& piece) {
                    return text::is_special_token(piece);
                });
            acts.merge_words =
                acts.merge_words || text::group_pieces_into_words(*pieces).size() < pieces->size();
        }
    return acts;
}

AttentionSetPtr with_reading(const AttentionSetPtr& set, const ReadingOptions& options,
                             std::shared_ptr<const Progress> stop) {
    const ReadingOptions reading = both(options, readings_that_act(*set));
    if (reading == ReadingOptions{})
        return set;
    return std::make_shared<ReadSet>(set, reading, std::move(stop));
}

} // namespace headscope::analysis
