#include "app/draw/kit/frame_counter.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/tensor/free_buffers.h"
#include "tests/catch.h"
#include "tests/environment.h"
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

// A user who clicks, types and drags at random. Nothing may break: every screen is drawn from a state that no
// other test covers. HEADSCOPE_RANDOM_EVENTS sets the number of events (default 150), HEADSCOPE_RANDOM_SEED
// the seed (default 1). With HEADSCOPE_RANDOM_DOCUMENT, only one of the documents below is visited. With
// HEADSCOPE_RANDOM_LOG, each event is printed on standard error. With HEADSCOPE_RANDOM_MEMORY, every thousand
// events, the memory of the idle program is printed: all resident memory, and the program's own part, without
// the code of libraries, which Linux can discard; first with the current screen, then with the document, the
// window and the text size of the beginning.

namespace headscope::test {
namespace {

int number_of(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

constexpr float first_width = 1600, first_height = 1000;

class Visitor {
public:
    /// begin: opens the document of the beginning.
    Visitor(User& user, const std::string& folder, unsigned seed, std::function<void()> begin)
        : user_(user), folder_(folder), random_(seed), begin_(std::move(begin)) {
        begin_();
    }

    void visit(int events) {
        for (int n = 0; n < events; ++n) {
            const std::string done = act();
            if (std::getenv("HEADSCOPE_RANDOM_LOG") != nullptr)
                std::cerr << n << ": " << done << std::endl;
            said_ += (said_.empty() ? "" : " | ") + done;
            if (said_.size() > 1500)
                said_.erase(0, said_.find('|', 200) + 2);
            INFO("event " << n << ", the last ones: " << said_);
            if (one_in(4)) {
                user_.settle();
                check_kept_pixels();
            } else {
                user_.driver.wait(below(4));
            }
            check();
            if (std::getenv("HEADSCOPE_RANDOM_MEMORY") != nullptr && n % 1000 == 0)
                tell_memory(n);
        }
        user_.settle();
        check();
    }

private:
    int below(int count) { return std::uniform_int_distribution<>(0, count - 1)(random_); }
    bool one_in(int count) { return below(count) == 0; }
    float x() { return static_cast<float>(below(static_cast<int>(width_))); }
    float y() { return static_cast<float>(below(static_cast<int>(height_))); }

    void tell_memory(int events) {
        tell_memory("event " + std::to_string(events));
        user_.driver.resize(first_width, first_height);
        begin_();
        user_.driver.wait(static_cast<int>(FrameCounter::kept_frames) + 1);
        tell_memory("opened anew");
        user_.driver.resize(width_, height_);
    }
    void tell_memory(const std::string& when) {
        user_.settle();
        release_free_buffers(); // as the window does after two seconds without input
        std::ifstream status("/proc/self/status");
        std::cerr << when << ": ";
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("VmRSS") || line.starts_with("RssAnon"))
                std::cerr << line << ", ";
        std::cerr << document_name() << ", engine " << user_.program.state().engines.chosen << std::endl;
    }
    std::string document_name() const {
        const Document& document = *user_.program.state().document;
        return document.title.empty() ? "a problem" : document.title;
    }

    std::string act() {
        const int kind = below(100);
        if (kind < 55)
            return click_something();
        if (kind < 75)
            return press_a_key();
        if (kind < 82)
            return type_something();
        if (kind < 88) {
            const float a = x(), b = y(), c = x(), d = y();
            user_.driver.drag(a, b, c, d, 4);
            return "drag";
        }
        if (kind < 92) {
            user_.driver.move(x(), y());
            user_.driver.scroll(static_cast<float>(below(9) - 4));
            return "scroll";
        }
        if (kind < 97) {
            user_.driver.click(x(), y(), below(2));
            return "click anywhere";
        }
        if (kind < 98) {
            constexpr std::array<std::pair<float, float>, 4> sizes{
                {{1600, 1000}, {1280, 720}, {900, 600}, {2400, 1400}}};
            std::tie(width_, height_) = sizes[static_cast<std::size_t>(below(4))];
            user_.driver.resize(width_, height_);
            return "resize";
        }
        user_.driver.wait(below(30));
        return "wait";
    }

    std::string click_something() {
        std::vector<const ScreenItem*> there;
        for (const ScreenItem& item : screen_items())
            if (!item.label.empty() && item.reachable())
                there.push_back(&item);
        if (there.empty())
            return "nothing to click";
        const ScreenItem item = *there[static_cast<std::size_t>(below(static_cast<int>(there.size())))];
        const bool other = one_in(12);
        if (one_in(10)) {
            user_.driver.double_click(item.middle_x(), item.middle_y());
            return "double click " + item.label;
        }
        user_.driver.click(item.middle_x(), item.middle_y(), other ? 1 : 0);
        return (other ? "right click " : "click ") + item.label;
    }

    std::string press_a_key() {
        static constexpr std::array keys{
            GLFW_KEY_ESCAPE, GLFW_KEY_ENTER,     GLFW_KEY_TAB,       GLFW_KEY_SPACE, GLFW_KEY_LEFT,
            GLFW_KEY_RIGHT,  GLFW_KEY_UP,        GLFW_KEY_DOWN,      GLFW_KEY_HOME,  GLFW_KEY_END,
            GLFW_KEY_DELETE, GLFW_KEY_BACKSPACE, GLFW_KEY_EQUAL,     GLFW_KEY_MINUS, GLFW_KEY_F1,
            GLFW_KEY_COMMA,  GLFW_KEY_PERIOD,    GLFW_KEY_PAGE_DOWN, GLFW_KEY_F,     GLFW_KEY_PAGE_UP};
        static constexpr std::array modifiers{
            0, 0, 0, GLFW_MOD_CONTROL, GLFW_MOD_SHIFT, GLFW_MOD_ALT, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT};
        int key = keys[static_cast<std::size_t>(below(keys.size()))];
        if (one_in(2))
            key = one_in(3) ? GLFW_KEY_0 + below(10) : GLFW_KEY_A + below(26);
        const int modifier = modifiers[static_cast<std::size_t>(below(modifiers.size()))];
        user_.driver.key(key, modifier);
        return "key " + std::to_string(key) + " with " + std::to_string(modifier);
    }

    std::string type_something() {
        static constexpr std::array<const char*, 12> texts{"The cat sat down",
                                                           "Anna went to the extraordinary shop",
                                                           "0.5",
                                                           "-3e9",
                                                           "L1H2",
                                                           "induction > 0.4",
                                                           "x",
                                                           "\xF0\x9F\x90\x88 \xE7\x8C\xAB",
                                                           "12 7 30",
                                                           "9999",
                                                           "head",
                                                           "   "};
        const char* const text = texts[static_cast<std::size_t>(below(texts.size()))];
        user_.driver.type(text);
        if (one_in(2))
            user_.driver.key(GLFW_KEY_ENTER);
        return std::string("type ") + text;
    }

    void check() {
        const AppState& state = user_.program.state();
        CHECK(state.error.find("internal") == std::string::npos);
        REQUIRE(state.document != nullptr);
        // Nothing is saved or opened outside of the test's folder.
        const auto& chooser = state.files.chooser;
        if (chooser && !chooser->chooser.listing().folder.string().starts_with(folder_))
            user_.driver.key(GLFW_KEY_ESCAPE);
    }

    std::vector<std::vector<figure::Color>> pixels_on_canvas() const {
        std::vector<std::vector<figure::Color>> pixels;
        for (const figure::SceneItem& item : user_.program.canvas().scene.items)
            if (const auto* grid = std::get_if<figure::GridItem>(&item); grid != nullptr && grid->pixels)
                pixels.push_back(*grid->pixels);
        return pixels;
    }

    /// Pixels that are kept from frame to frame are those that would be made now.
    void check_kept_pixels() {
        if (!user_.program.settled())
            return;
        const auto kept = pixels_on_canvas();
        user_.program.state().pixels = PixelCache();
        user_.driver.wait();
        if (user_.program.settled())
            CHECK(pixels_on_canvas() == kept);
    }

    User& user_;
    const std::string folder_;
    std::mt19937 random_;
    float width_ = first_width, height_ = first_height;
    const std::function<void()> begin_;
    std::string said_;
};

} // namespace

TEST_CASE("random input breaks nothing", "[gui][random]") {
    const std::string problem, documents[] = {problem, "pocket", "bert_tiny", "t5_tiny"};
    const std::string path = GENERATE_REF(from_range(std::begin(documents), std::end(documents)));
    INFO("document " << path);
    if (const char* const only = std::getenv("HEADSCOPE_RANDOM_DOCUMENT"); only != nullptr) {
        INFO("HEADSCOPE_RANDOM_DOCUMENT is " << only);
        REQUIRE(std::ranges::count(documents, only) == 1);
        if (path != only)
            return;
    }
    const TemporaryFolder folder;
    const std::string home_path = folder.file("home");
    const Environment home("HOME", home_path.c_str());
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::create_directory(home_path);
    std::filesystem::current_path(home_path); // where choosers begin
    if (std::getenv("HEADSCOPE_RANDOM_MEMORY") != nullptr)
        enable_prompt_memory_release(); // as the window does
    User user("first-lesson", "", first_width, first_height, 1, folder.file("state"));
    const auto begin = [&] {
        user.act(SetZoom{1});
        user.act(EngineAction{EngineAction::Kind::choose, "auto"});
        if (path == "pocket")
            user.open(checkpoint::model_folder("pocket"),
                      "Anna went to the extraordinary shop. Anna bought bread.");
        else if (!path.empty())
            user.open(test_data("/models/" + path), path == "t5_tiny" ? "3 7 5" : "");
        else
            user.act(NewProject{});
        if (user.program.state().files.unsaved)
            user.act(AnswerUnsaved{UnsavedAnswer::discard});
        user.settle();
    };
    Visitor(user, home_path, static_cast<unsigned>(number_of("HEADSCOPE_RANDOM_SEED", 1)), begin)
        .visit(number_of("HEADSCOPE_RANDOM_EVENTS", 150));
    std::filesystem::current_path(before);
}

} // namespace headscope::test
