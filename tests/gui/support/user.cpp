#include "tests/gui/support/user.h"

#include "app/draw/kit/format.h"
#include "core/engine/engine.h"
#include "tests/catch.h"

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace headscope::test {

using namespace headscope::app;
namespace {

/// A machine without a network: no test connects to a server.
class NoNetwork : public hub::HttpClient {
public:
    hub::HttpAnswer send(const hub::HttpRequest&, const OnAnswer&, const Progress&) override {
        throw hub::ConnectionError("there is no network in tests", false);
    }
};

Program::Options options_for(const std::string& preset, const std::string& sentence,
                             const std::string& state_folder) {
    Program::Options options;
    options.recipe.preset = preset;
    options.recipe.sentence = sentence;
    options.device = "cpu";
    options.state_folder = state_folder;
    options.hub_client = [] { return std::make_unique<NoNetwork>(); };
    return options;
}

/// Numbers of cells are centered and in the mono font.
using Places = std::map<std::pair<long, long>, const figure::TextItem*>;

Places cell_texts(const figure::Scene& scene) {
    Places places;
    for (const figure::SceneItem& item : scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item))
            if (text->align == figure::Align::center && text->font == figure::Font::mono && text->angle == 0)
                places[{std::lround(text->at.x * 2), std::lround(text->at.y * 2)}] = text;
    return places;
}

const figure::TextItem* text_in(const Places& places, const figure::Rect& cell) {
    const long x = std::lround((cell.x + cell.w / 2) * 2);
    for (long near = x - 1; near <= x + 1; ++near)
        for (auto at = places.lower_bound({near, std::lround(cell.y * 2)});
             at != places.end() && at->first.first == near; ++at)
            if (static_cast<float>(at->first.second) <= cell.bottom() * 2)
                return at->second;
    return nullptr;
}

} // namespace

User::User(const std::string& preset, const std::string& sentence, float width, float height, float scale,
           const std::string& state_folder)
    : program(options_for(preset, sentence, state_folder)), driver(program, width, height, scale) {
    settle();
}

User::User(const Program::Options& options, float width, float height)
    : program(options), driver(program, width, height) {
    settle();
}

void User::settle() {
    driver.wait();
    program.settle();
    driver.wait();
    // Time steps are large: tests see only some points of each motion.
    driver.wait_until([&] { return view().playing || !program.animating(); }, 600, 0.1);
    driver.wait();
}

void User::act(const Action& action) {
    program.act(action);
    settle();
}

void User::type_over(const std::string& field, const std::string& text) {
    REQUIRE(driver.click_item(field));
    driver.key(GLFW_KEY_A, GLFW_MOD_CONTROL);
    if (text.empty())
        driver.key(GLFW_KEY_BACKSPACE);
    driver.type(text);
    driver.key(GLFW_KEY_ENTER);
    settle();
}

void User::type_sentence(const std::string& sentence) {
    type_over("##sentence", sentence);
}

void User::type_kv_sentence(const std::string& sentence) {
    type_over("##kv_sentence", sentence);
}

void User::choose(const std::string& caption, const std::string& row) {
    REQUIRE(click(caption, "Headscope"));
    driver.wait(3);
    INFO(caption << ": " << row);
    const bool found = click("     " + row, "##Popup") || click("✓  " + row, "##Popup");
    REQUIRE(found);
    settle();
}

bool User::click(const std::string& label, const std::string& window) {
    const auto& items = screen_items();
    const auto item = std::ranges::find_if(items, [&](const ScreenItem& one) {
        return one.label == label && one.window.find(window) != std::string::npos && one.reachable();
    });
    if (item == items.end())
        return false;
    driver.click(item->middle_x(), item->middle_y());
    return true;
}

void User::open(const std::string& path, const std::string& text,
                const std::optional<std::string>& decoder_text) {
    begin_recording();
    program.open_path(path, {text, decoder_text});
    settle();
    settle();
}

void User::press_key(int key, int modifiers) {
    driver.key(key, modifiers);
    settle();
}

void User::press(const std::string& label) {
    INFO(label);
    REQUIRE(click(label));
    settle();
    settle();
}

std::string signature(const ViewState& view) {
    std::ostringstream out;
    out << "group " << int(view.group) << " row " << view.row << " head " << view.head << " other "
        << view.compared_head << " batch " << view.batch << " as " << int(view.weights_view) << " heads "
        << int(view.heads_view) << " projection " << int(view.projection) << " map " << int(view.colour_map)
        << " same " << view.same_scale << " scores " << static_cast<int>(view.attention.score_scale)
        << " numbers " << view.numbers << " apart " << view.apart_target << " joined " << view.joined_target
        << " playing " << view.playing << " speed " << view.speed << " dark " << view.dark << " zoom "
        << view.zoom << " left " << view.left_open.value_or(true) << view.left_open.has_value()
        << " inspector " << view.inspector_open.value_or(true) << view.inspector_open.has_value()
        << " widths " << view.left_width << ' ' << view.inspector_width << " tab " << int(view.tab)
        << " screen " << int(view.attention.screen) << " compare " << int(view.compare) << " flash "
        << view.flashes() << " help " << view.help_open << " selected ";
    if (view.selected) {
        out << int(view.selected->tensor);
        for (const std::int64_t i : view.selected->at)
            out << ' ' << i;
    }
    return out.str();
}

std::string signature(const Program& program) {
    const AppState& state = program.state();
    return signature(state.view) + " revision " + std::to_string(state.document->revision) + " popups " +
           std::to_string(ImGui::GetCurrentContext()->OpenPopupStack.Size) + " manual " +
           (state.manual.open ? state.manual.at.page + "#" + state.manual.at.anchor : "closed") +
           " baseline " +
           (state.compare.marked() ? std::to_string(state.compare.baseline().document->revision) : "none");
}

Trace computed(const Problem& problem) {
    return static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem);
}

int check_printed_numbers(const Picture& picture, const Trace& trace, const Problem& problem) {
    const Places places = cell_texts(picture.scene);
    int compared = 0, wrong = 0;
    for (const MatrixGrid& grid : picture.grids) {
        if (!grid.shows_own_values)
            continue;
        const Tensor* const known = trace.stage(grid.tensor);
        const Tensor* const tensor = known != nullptr ? known : problem.input(grid.tensor);
        REQUIRE(tensor != nullptr);
        const Shape& shape = tensor->shape();
        for (std::int64_t row = 0; row < grid.rows; ++row)
            for (std::int64_t col = 0; col < grid.cols; ++col) {
                const Index at = grid.index(row, col);
                for (int axis = 0; axis < shape.rank(); ++axis)
                    REQUIRE(at[static_cast<std::size_t>(axis)] < shape[axis]);
                const figure::TextItem* text = text_in(places, grid.cell(row, col));
                if (text == nullptr)
                    continue;
                const float value = tensor->data()[shape.offset(at)];
                const auto point = text->text.find('.');
                const int decimals =
                    point == std::string::npos ? 0 : static_cast<int>(text->text.size() - point - 1);
                ++compared;
                if (text->text == number(value, decimals) || text->text == signed_number(value, decimals))
                    continue;
                if (++wrong == 1)
                    FAIL_CHECK(tensor_info(grid.tensor).name << " row " << row << " column " << col
                                                             << " shows " << text->text << ", is " << value);
            }
    }
    CHECK(wrong == 0);
    return compared;
}

std::string words(int count) {
    static constexpr const char* some[] = {"the", "bank", "by", "a", "river", "cats", "sleep", "near"};
    std::string out;
    for (int i = 0; i < count; ++i)
        out += (i == 0 ? "" : " ") + std::string(some[i % 8]) +
               (i < 8 ? "" : std::string(1, static_cast<char>('a' + i / 8 % 26)));
    return out;
}

figure::Point middle_of(const Picture& canvas, const CellAddress& cell) {
    for (const MatrixGrid& grid : canvas.grids)
        if (const auto at = grid.tensor == cell.tensor ? grid.find(cell.at) : std::nullopt) {
            const figure::Rect area = grid.cell(at->first, at->second);
            return {area.x + area.w / 2, area.y + area.h / 2};
        }
    FAIL("the cell is not on the canvas");
    return {};
}

} // namespace headscope::test
