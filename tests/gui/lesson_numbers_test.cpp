#include "app/draw/kit/format.h"
#include "app/draw/kit/rich_text.h"
#include "app/draw/lesson/lesson_panel.h"
#include "core/analysis/heads/head_scores.h"
#include "core/base/error.h"
#include "core/base/overloaded.h"
#include "core/lesson/check.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <vector>

// Every number that a lesson quotes from the screen can be read there. A live value that is one cell of one
// tensor, such as {{weights[0][sat, cat]}}, has to be shown, in the cell itself or in words next to it, with
// at least as many decimals. A sum, mean or extreme of cells, and a score of a head, such as {{entropy(0,
// it)}}, has to be shown somewhere outside the lesson panel, or every cell that it is computed from has to be
// shown. A table of a lesson is also a screen, which names each of its numbers. Every other number that a
// page computes, such as {{H * dk}}, is explained by the page itself: the sentence around it names the inputs
// and the operation.

namespace headscope::test {

using namespace headscope::app;
namespace {

/// The live values of a page, with those of the answers.
class PageValues {
public:
    explicit PageValues(const CourseState& course) {
        if (const lesson::Step* const step = course.step())
            add(step->blocks);
        if (const lesson::Question* const question = course.question()) {
            add(question->text);
            for (const lesson::QuizChoice& choice : question->choices) {
                add(choice.text);
                add(choice.explanation);
            }
        }
    }
    std::vector<const lesson::LiveValue*> values;
    std::set<const lesson::LiveValue*> in_tables;

private:
    void add(const lesson::Spans& spans) {
        std::string before;
        for (const lesson::Span& span : spans) {
            if (span.value && !before.ends_with("= "))
                values.push_back(&*span.value);
            before = span.text;
        }
    }
    void add(const std::vector<lesson::LessonBlock>& blocks) {
        for (const lesson::LessonBlock& block : blocks)
            std::visit(Overloaded{[&](const lesson::Paragraph& b) { add(b.spans); },
                                  [&](const lesson::Heading& b) { add(b.spans); },
                                  [&](const lesson::ListBlock& b) {
                                      for (const lesson::Spans& item : b.items)
                                          add(item);
                                  },
                                  [&](const lesson::TableBlock& b) {
                                      const std::size_t before = values.size();
                                      for (const lesson::Spans& cell : b.header)
                                          add(cell);
                                      for (const auto& row : b.rows)
                                          for (const lesson::Spans& cell : row)
                                              add(cell);
                                      in_tables.insert(values.begin() + static_cast<std::ptrdiff_t>(before),
                                                       values.end());
                                  },
                                  [&](const lesson::Callout& b) { add(b.blocks); }, [](const auto&) {}},
                       block);
    }
};

/// A cell that a live value is.
struct QuotedCell {
    std::int64_t layer = -1; ///< layer of a checkpoint; -1: the current one
    CellAddress cell;
};

/// Empty for a value that the page computes.
std::optional<QuotedCell> quoted_cell(const lesson::LiveValue& value, const Problem& problem) {
    static const std::regex of_layer("L([0-9]+)\\.(.*)");
    std::string text = value.expression.text();
    QuotedCell out;
    if (std::smatch parts; std::regex_match(text, parts, of_layer)) {
        out.layer = std::stoll(parts[1]);
        text = parts[2].str();
    }
    try {
        const lesson::CellRange cells = lesson::resolve(lesson::parse_target(text), problem);
        if (cells.size() != 1)
            return {};
        out.cell = {cells.tensor, cells.first};
        return out;
    } catch (const Error&) {
        return {};
    }
}

/// A sum, mean or extreme of cells, or a score of a head, perhaps in per cent.
bool is_sum_or_score(const lesson::LiveValue& value) {
    const std::vector<std::string> functions = value.expression.functions();
    static const std::set<std::string> of_cells{"sum", "mean", "min", "max", "distance"};
    const auto scores = analysis::head_scores();
    const bool known = std::ranges::all_of(functions, [&](const std::string& name) {
        return of_cells.contains(name) ||
               std::ranges::any_of(scores, [&](const auto& score) { return score.id == name; });
    });
    return !functions.empty() && known && value.expression.text().find("L") != 0;
}

bool is_number(const std::string& text) {
    std::string plain = text;
    for (std::size_t at = 0; (at = plain.find("−", at)) != std::string::npos;)
        plain.replace(at, std::string("−").size(), "-");
    return std::regex_match(plain, std::regex("-?[0-9]*\\.?[0-9]+"));
}

std::vector<Index> cells_of(const lesson::CellRange& range) {
    std::vector<Index> cells;
    Index at{};
    const auto add_cells = [&](const auto& self, std::size_t axis) -> void {
        if (axis == at.size())
            return cells.push_back(at);
        for (std::int64_t n = 0; n < std::max<std::int64_t>(range.count[axis], 1); ++n) {
            at[axis] = range.first[axis] + n;
            self(self, axis + 1);
        }
    };
    add_cells(add_cells, 0);
    return cells;
}

int decimals_of(const std::string& number) {
    const auto point = number.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(number.size() - point - 1);
}

/// Returns true if a text on screen contains the number, with at least as many decimals as the quote.
bool holds_number(std::string text, const std::string& quote) {
    for (std::size_t at = 0; (at = text.find("−", at)) != std::string::npos;)
        text.replace(at, std::string("−").size(), "-");
    std::string wanted = quote;
    if (const auto at = wanted.find("−"); at != std::string::npos)
        wanted.replace(at, std::string("−").size(), "-");
    const double value = std::stod(wanted);
    static const std::regex number("-?[0-9]*\\.?[0-9]+");
    for (auto one = std::sregex_iterator(text.begin(), text.end(), number); one != std::sregex_iterator();
         ++one) {
        const int decimals = decimals_of(one->str());
        // A whole number is printed without a point.
        const bool fine = decimals >= decimals_of(wanted) || value == std::round(value);
        if (fine && std::abs(std::stod(one->str()) - value) <= 0.5 * std::pow(10.0, -decimals_of(wanted)))
            return true;
    }
    return false;
}

struct LessonReader : User {
    LessonReader(float width, float height) : User(options(), width, height), width_(width) {}

    static Program::Options options() {
        Program::Options options;
        options.device = "cpu";
        return options;
    }
    const CourseState& course() const { return program.state().course; }

    /// Returns true if the text is outside the left panel.
    bool beside_lesson(const ScreenText& text) const { return text.visible && text.x > left_edge(); }
    float left_edge() const {
        for (const ScreenItem& item : screen_items())
            if (item.label == "fold left")
                return item.area.x + item.area.w;
        return 0;
    }

    /// Returns true if a cell of the canvas shows the number of the cell; empty: the canvas does not have
    /// such a cell.
    std::optional<bool> in_its_cell(const CellAddress& cell, const std::string& quote) const {
        std::optional<bool> found;
        for (const MatrixGrid& grid : program.canvas().grids)
            if (const auto at =
                    grid.tensor == cell.tensor && grid.shows_own_values ? grid.find(cell.at) : std::nullopt) {
                const figure::Rect area = grid.cell(at->first, at->second);
                const bool here = std::ranges::any_of(screen_texts(), [&](const ScreenText& text) {
                    return beside_lesson(text) && (area.contains(text.x, text.y) || in_its_tag(cell, text)) &&
                           holds_number(text.text, quote);
                });
                found = found.value_or(false) || here;
            }
        return found;
    }

    /// Returns true if the text is in the tag of the cell, which is next to it or connected to it by a line.
    bool in_its_tag(const CellAddress& cell, const ScreenText& text) const {
        return std::ranges::any_of(program.canvas().tags, [&](const CellTag& tag) {
            return tag.cell == cell && tag.area.contains(text.x, text.y);
        });
    }

    /// Anywhere beside the lesson: in a cell, a sum, a score, a word of the inspector.
    bool on_screen(const std::string& quote) const {
        return std::ranges::any_of(screen_texts(), [&](const ScreenText& text) {
            return beside_lesson(text) && holds_number(text.text, quote);
        });
    }

    /// Returns true if every number of these cells is shown in its cell.
    bool in_their_cells(const std::vector<lesson::Target>& targets) const {
        if (targets.empty())
            return false;
        for (const lesson::Target& target : targets) {
            lesson::CellRange cells;
            try {
                cells = lesson::resolve(target, shown().problem());
            } catch (const Error&) {
                return false;
            }
            for (const Index& at : cells_of(cells)) {
                const float value = shown().value({cells.tensor, at});
                if (!in_its_cell({cells.tensor, at}, number(static_cast<double>(value), 1)).value_or(false))
                    return false;
            }
        }
        return true;
    }

    /// In words beside the cells: the inspector's, or those of a label that a lesson's outline has.
    bool in_words(const std::string& quote) const {
        return std::ranges::any_of(screen_texts(), [&](const ScreenText& text) {
            return beside_lesson(text) && text.x > inspector() && holds_number(text.text, quote);
        });
    }
    float inspector() const {
        for (const ScreenItem& item : screen_items())
            if (item.label == "fold inspector" || item.label == "open Inspector")
                return item.label == "open Inspector" ? item.area.x
                                                      : item.area.x - view().inspector_width + 40;
        return width_;
    }

    float width_;
};

} // namespace

TEST_CASE("every number that a lesson quotes can be read on the same screen", "[gui][lesson][numbers]") {
    const bool large = GENERATE(true, false);
    LessonReader reader(large ? 1600 : 1280, large ? 1000 : 720);
    const std::string size = large ? "1600x1000" : "1280x720";
    int checked = 0, worked_out = 0;
    for (const auto& one : reader.course().lessons) {
        const std::string id = one->id; // the list may be loaded again
        reader.act(OpenLesson{id});
        for (int page = 0; page < reader.course().pages(); ++page) {
            reader.act(GoToPage{page});
            reader.settle(); // on a checkpoint's page, the layer comes after the model
            reader.settle();
            if (reader.course().question() != nullptr)
                reader.act(AnswerQuestion{reader.course().question_index(), 0});
            const AppState& state = reader.program.state();
            REQUIRE(state.error.empty());
            const PageValues values(reader.course());
            for (const lesson::LiveValue* const value : values.values) {
                const auto quoted = quoted_cell(*value, reader.shown().problem());
                const std::string text = plain_text({.style = {}, .text = {}, .value = *value},
                                                    lesson_state(state.shown, state.view, state.course));
                if (!quoted) {
                    if (values.in_tables.contains(value) || !is_sum_or_score(*value) || !is_number(text))
                        continue;
                    ++worked_out;
                    if (!reader.on_screen(text) && !reader.in_their_cells(value->expression.targets()))
                        FAIL_CHECK(size << " " << id << ", page " << page << ": " << value->expression.text()
                                        << " = " << text << " stands nowhere, line " << value->line);
                    continue;
                }
                ++checked;
                const bool this_layer = quoted->layer < 0 || quoted->layer == state.shown.document->layer();
                const auto in_cell = this_layer ? reader.in_its_cell(quoted->cell, text) : std::nullopt;
                const bool readable = in_cell.value_or(false) || reader.in_words(text);
                if (!readable)
                    FAIL_CHECK(size << " " << id << ", page " << page << ": " << value->expression.text()
                                    << " = " << text << (in_cell ? ", its cell shows no number" : ", no cell")
                                    << ", line " << value->line);
            }
        }
    }
    CHECK(checked > 140);
    CHECK(worked_out > 25);
}

} // namespace headscope::test
