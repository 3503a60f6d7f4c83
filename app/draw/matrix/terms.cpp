#include "app/draw/matrix/terms.h"

#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app {

namespace {

constexpr float term_gap = 10.0F;
constexpr float times_width = 24.0F;
constexpr float narrowest_bar = 24.0F;
constexpr float widest_bar = 96.0F;
constexpr float widest_term_label = 72.0F;
constexpr std::size_t most_groups = 6;

std::vector<double> values_of(const std::vector<Term>& terms) {
    std::vector<double> out;
    for (const Term& term : terms)
        out.push_back(term.value);
    return out;
}

/// Shortens a long list of terms to the largest ones and one line for the rest.
std::vector<Term> only_largest(const std::vector<Term>& terms, std::size_t most) {
    if (terms.size() <= most)
        return terms;
    std::vector<Term> out;
    double rest = 0;
    std::size_t next = 0;
    const std::vector<std::size_t> kept = largest_indices(values_of(terms), most);
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (next < kept.size() && kept[next] == i) {
            out.push_back(terms[i]);
            ++next;
        } else {
            rest += terms[i].value;
        }
    }
    out.push_back({.label = tr("terms.more_together", "… {} more, together",
                               grouped(static_cast<std::int64_t>(terms.size() - kept.size()))),
                   .value = rest});
    return out;
}

/// The table as written, with long groups shortened.
TermTable shortened_table(TermTable table) {
    std::size_t count = 0;
    for (const TermGroup& group : table.groups)
        count += group.terms.size();
    if (count <= longest_table)
        return table;
    const std::size_t groups = std::min(table.groups.size(), most_groups);
    if (table.groups.size() > most_groups) {
        std::vector<double> sizes;
        for (const TermGroup& group : table.groups)
            sizes.push_back(group.subtotal);
        const std::vector<std::size_t> kept = largest_indices(sizes, most_groups);
        std::vector<TermGroup> shown;
        double rest = std::accumulate(sizes.begin(), sizes.end(), 0.0);
        for (const std::size_t g : kept) {
            rest -= sizes[g];
            shown.push_back(table.groups[g]);
        }
        const auto others = static_cast<std::int64_t>(sizes.size() - kept.size());
        table.single_terms.insert(
            table.single_terms.begin(),
            {.label = tr("terms.more_heads_together", "… {} more heads, together", grouped(others)),
             .value = rest});
        table.groups = std::move(shown);
    }
    for (TermGroup& group : table.groups)
        group.terms = only_largest(group.terms, std::max<std::size_t>(2, largest_terms / groups));
    return table;
}

/// The summands of the total.
std::vector<double> parts_of_total(const TermTable& table) {
    std::vector<double> parts;
    for (const TermGroup& group : table.groups) {
        if (group.name.empty()) {
            const std::vector<double> values = values_of(group.terms);
            parts.insert(parts.end(), values.begin(), values.end());
        } else {
            parts.push_back(group.subtotal);
        }
    }
    const std::vector<double> others = values_of(table.single_terms);
    parts.insert(parts.end(), others.begin(), others.end());
    return parts;
}

bool holds(const TermTable& table, int decimals) {
    const bool groups = std::ranges::all_of(table.groups, [&](const TermGroup& group) {
        return group.name.empty() || adds_up(values_of(group.terms), group.subtotal, decimals);
    });
    return groups && (table.name.empty() || adds_up(parts_of_total(table), table.total, decimals));
}

/// Returns true if the printed factors multiply to each printed product, up to the last digit.
bool multiplies(const TermTable& table, int factor_decimals, int decimals) {
    const auto printed = [](double value, int digits) {
        const double unit = std::pow(10.0, digits);
        return std::round(value * unit) / unit;
    };
    const double most = 1.5 * std::pow(10.0, -decimals);
    return std::ranges::all_of(table.groups, [&](const TermGroup& group) {
        return std::ranges::all_of(group.terms, [&](const Term& term) {
            return !term.factors || std::abs(printed((*term.factors)[0], factor_decimals) *
                                                 printed((*term.factors)[1], factor_decimals) -
                                             printed(term.value, decimals)) <= most;
        });
    });
}

/// The positions of the columns for given decimals of the two factors and the result.
struct Columns {
    std::array<int, 3> decimals{2, 2, 2};
    std::array<float, 3> numbers{}; ///< widths of the two factors and of the result
    float label = 0;
    float bar = 0; ///< 0: none

    bool factors() const { return numbers[0] > 0; }
    float taken() const {
        return label + numbers[2] + term_gap +
               (factors() ? numbers[0] + numbers[1] + times_width + term_gap : 0);
    }
};

class TermWriter {
public:
    TermWriter(Sheet& sheet, const TermTable& table) : sheet_(sheet), table_(table) {
        for (const TermGroup& group : table.groups)
            for (const Term& term : group.terms)
                largest_ = std::max(largest_, std::abs(term.value));
        choose_columns();
    }

    int write() {
        heading();
        for (const TermGroup& group : table_.groups)
            write_group(group);
        for (const Term& term : table_.single_terms)
            write_plain(term, figure::Font::mono);
        if (!table_.name.empty()) {
            sheet_.rule(columns_.numbers[2] + 8);
            write_total(table_.name, table_.total,
                        !adds_up(parts_of_total(table_), table_.total, columns_.decimals[2]),
                        figure::Font::mono);
        }
        return columns_.decimals[2];
    }

private:
    std::string text(double value, int decimals) const {
        return table_.signs ? signed_number(value, decimals) : number(value, decimals);
    }

    float wide(const std::string& words, figure::Font font = figure::Font::mono) const {
        return sheet_.context.measure(words, font, Sheet::text_size);
    }

    Columns measured(const std::array<int, 3>& decimals) const {
        Columns c{.decimals = decimals};
        const auto heading_width = [&](std::size_t i) {
            return sheet_.context.measure(table_.columns[i], figure::Font::mono, 12.0F);
        };
        const auto widen = [](float& width, float by) { width = std::max(width, by); };
        c.label = heading_width(0);
        c.numbers[2] = heading_width(3);
        widen(c.numbers[2], wide(text(table_.total, decimals[2]), figure::Font::mono_semibold));
        for (const TermGroup& group : table_.groups) {
            widen(c.numbers[2], wide(text(group.subtotal, decimals[2]), figure::Font::mono_semibold));
            for (const Term& term : group.terms) {
                widen(c.numbers[2], wide(text(term.value, decimals[2])));
                if (!term.factors)
                    continue;
                widen(c.label,
                      std::min(widest_term_label,
                               wide(term.label, table_.words ? figure::Font::ui : figure::Font::mono)));
                for (const std::size_t f : {0U, 1U}) {
                    widen(c.numbers[f], heading_width(f + 1));
                    widen(c.numbers[f], wide(number((*term.factors)[f], decimals[f])));
                }
            }
        }
        for (const Term& term : table_.single_terms)
            widen(c.numbers[2], wide(text(term.value, decimals[2])));
        const float room = sheet_.width() - c.taken() - term_gap;
        c.bar = c.factors() && room >= narrowest_bar ? std::min(room, widest_bar) : 0;
        return c;
    }

    /// Uses the fewest decimals for which the printed sums and products are exact. If a row is then too wide,
    /// drops decimals one by one from the widest column.
    void choose_columns() {
        int fewest = 2;
        while (fewest < 4 && !holds(table_, fewest))
            ++fewest;
        int of_factors = fewest;
        while (of_factors < 4 && !multiplies(table_, of_factors, fewest))
            ++of_factors;
        std::array<int, 3> decimals{of_factors, of_factors, fewest};
        columns_ = measured(decimals);
        while (columns_.taken() > sheet_.width()) {
            std::size_t widest = 3;
            for (std::size_t c = 0; c < 3; ++c)
                if (decimals[c] > 0 && (widest == 3 || columns_.numbers[c] > columns_.numbers[widest]))
                    widest = c;
            if (widest == 3)
                break;
            --decimals[widest];
            columns_ = measured(decimals);
        }
        columns_.label = std::max(0.0F, columns_.label - std::max(0.0F, columns_.taken() - sheet_.width()));
    }

    float first_edge() const { return sheet_.left + columns_.label + term_gap + columns_.numbers[0]; }
    float second_edge() const { return first_edge() + times_width + columns_.numbers[1]; }

    void heading() {
        if (table_.columns[3].empty())
            return;
        const figure::Color muted = sheet_.context.theme.muted;
        sheet_.y -= 2;
        const auto head = [&](float x, std::size_t i, figure::Align align) {
            sheet_.put(x, table_.columns[i], sheet_.width(), figure::Font::mono, 12, muted, align);
        };
        head(sheet_.left, 0, figure::Align::left);
        head(first_edge(), 1, figure::Align::right);
        head(second_edge(), 2, figure::Align::right);
        head(sheet_.right, 3, figure::Align::right);
        sheet_.y += Sheet::row_height - 2;
    }

    void write_group(const TermGroup& group) {
        const float top = sheet_.y;
        for (const Term& term : group.terms) {
            if (term.factors)
                write_product(term);
            else
                write_plain(term, figure::Font::mono);
        }
        if (group.name.empty())
            return;
        if (group.head >= 0)
            sheet_.picture.scene.add(
                figure::RectItem{.area = {sheet_.left - 10, top + 3, 3, sheet_.y - top - 6},
                                 .fill = bar_color(sheet_.context, group.head)});
        write_total(group.name, group.subtotal,
                    !adds_up(values_of(group.terms), group.subtotal, columns_.decimals[2]), figure::Font::ui);
        sheet_.y += 4;
    }

    void write_product(const Term& term) {
        const Theme& theme = sheet_.context.theme;
        const figure::Color color = term.value == 0 ? theme.muted : theme.text;
        sheet_.put(sheet_.left, term.label, columns_.label,
                   table_.words ? figure::Font::ui : figure::Font::mono, Sheet::text_size,
                   table_.words ? theme.text : theme.muted);
        const auto right_number = [&](float x, const std::string& digits) {
            sheet_.put(x, digits, sheet_.width(), figure::Font::mono, Sheet::text_size, color,
                       figure::Align::right);
        };
        right_number(first_edge(), number((*term.factors)[0], columns_.decimals[0]));
        sheet_.put(first_edge() + times_width / 2 - 1, "×", times_width, figure::Font::mono, Sheet::text_size,
                   theme.muted, figure::Align::center);
        right_number(second_edge(), number((*term.factors)[1], columns_.decimals[1]));
        right_number(sheet_.right, text(term.value, columns_.decimals[2]));
        bar(term);
        sheet_.y += Sheet::row_height;
    }

    void bar(const Term& term) {
        if (columns_.bar == 0)
            return;
        const float middle = sheet_.right - columns_.numbers[2] - term_gap - columns_.bar / 2;
        const float center = sheet_.y + Sheet::row_height / 2;
        const float length =
            largest_ > 0 ? static_cast<float>(std::abs(term.value) / largest_) * columns_.bar / 2 : 0.0F;
        if (length > 0)
            sheet_.picture.scene.add(
                figure::RectItem{.area = {term.value < 0 ? middle - length : middle, center - 5, length, 10},
                                 .fill = bar_color(sheet_.context, term.head)});
        sheet_.picture.scene.add(
            figure::LineItem{{middle, center - 8}, {middle, center + 8}, sheet_.context.theme.line2, 1});
    }

    void write_plain(const Term& term, figure::Font font) {
        const Theme& theme = sheet_.context.theme;
        const float taken = sheet_.put(sheet_.right, text(term.value, columns_.decimals[2]), sheet_.width(),
                                       font, Sheet::text_size, theme.text, figure::Align::right);
        float x = sheet_.left;
        if (term.head >= 0) {
            sheet_.picture.scene.add(
                figure::RectItem{.area = {x, sheet_.y + Sheet::row_height / 2 - 5, 10, 10},
                                 .fill = bar_color(sheet_.context, term.head)});
            x += 18;
        }
        sheet_.put(x, term.label, sheet_.right - x - taken - term_gap, figure::Font::ui, Sheet::text_size,
                   term.head >= 0 ? theme.text : theme.muted);
        sheet_.y += Sheet::row_height;
    }

    void write_total(const std::string& name, double total, bool approximate, figure::Font name_font) {
        const Theme& theme = sheet_.context.theme;
        const float taken = sheet_.put(
            sheet_.right, approximate_prefix(approximate) + text(total, columns_.decimals[2]), sheet_.width(),
            figure::Font::mono_semibold, Sheet::text_size, theme.ink, figure::Align::right);
        sheet_.put(sheet_.left, name, sheet_.width() - taken - term_gap, name_font, Sheet::text_size,
                   name_font == figure::Font::ui ? theme.text : theme.muted);
        sheet_.y += Sheet::row_height;
    }

    Sheet& sheet_;
    const TermTable& table_;
    Columns columns_;
    double largest_ = 0;
};

} // namespace

int draw_terms(Sheet& sheet, const TermTable& table) {
    const TermTable shown = shortened_table(table);
    return TermWriter(sheet, shown).write();
}

std::vector<std::size_t> largest_indices(const std::vector<double>& numbers, std::size_t most) {
    std::vector<std::size_t> places(numbers.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (most < places.size()) {
        std::ranges::stable_sort(places, std::greater(), [&](std::size_t i) { return std::abs(numbers[i]); });
        places.resize(most);
        std::ranges::sort(places);
    }
    return places;
}

SumFormat step_format(const std::vector<double>& from, double to,
                      const std::function<double(const std::vector<double>&)>& step, int fewest) {
    for (int decimals = fewest; decimals <= 4; ++decimals) {
        std::vector<double> printed;
        for (const double value : from)
            printed.push_back(as_printed(value, decimals));
        if (number(step(printed), decimals) == number(to, decimals))
            return {decimals, false};
    }
    return {4, true};
}

std::string approximate_prefix(bool approximate) {
    return approximate ? "≈ " : "";
}

figure::Color bar_color(const DrawContext& context, std::int64_t h) {
    return h < 0 ? context.theme.no_head.colour : context.head_colours(h).colour;
}

} // namespace headscope::app
