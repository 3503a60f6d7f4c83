#include "app/shell/window.h"

#include "app/shell/gl/gl_surface.h"
#include "app/shell/gl/imgui_lock.h"
#include "app/shell/input_queue.h"
#include "app/shell/window_state.h"
#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/tensor/free_buffers.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <stb_image.h>

#include <GLFW/glfw3.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

namespace headscope::app {
namespace {

constexpr double frame_time = 1.0 / 60;
constexpr double blink_time = 0.1; // between frames while a text cursor blinks and nothing else happens
constexpr double idle_time = 0.5;  // between checks whether the Ui wants to animate
constexpr double pause_time = 0.5; // after the last event, the window state is saved
constexpr double rest_time = 2;    // after the last event, free memory is returned to the system
// The effect of an event may show one or two frames later: a popup opens, a list finds its size, a field that
// a button activates takes the keyboard focus.
constexpr int frames_shown_after = 3;
constexpr float no_time = 1e-6F; // between two frames of one picture; Dear ImGui does not accept 0

std::mutex open_mutex; // guards `open` against a wake_window() while the window closes
bool open = false;
std::atomic<bool> woken{false};

std::string glfw_reason() {
    const char* text = nullptr;
    glfwGetError(&text);
    std::string reason = text == nullptr ? "" : text;
    reason.erase(reason.find_last_not_of(' ') + 1);
    return reason.empty() ? reason : " " + tr("window.glfw_says", "(GLFW says \"{}\")", reason);
}

class Glfw {
public:
    Glfw() {
        if (glfwInit() == GLFW_FALSE)
            throw Error(
                ErrorKind::machine,
                // Translators: {} is nothing, or begins with a space and gives the reason in parentheses
                tr("window.no_window_opened_because",
                   "no window can be opened because there is no display{}: start Headscope on a desktop, or "
                   "make pictures without one with `headscope render`",
                   glfw_reason()));
        const std::lock_guard lock(open_mutex);
        open = true;
    }
    ~Glfw() {
        {
            const std::lock_guard lock(open_mutex);
            open = false;
        }
        glfwTerminate();
    }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
};

float monitor_scale() {
    float x = 1, y = 1;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorContentScale(monitor, &x, &y);
    return std::max(x, 0.5F);
}

// The number of window-system units per physical pixel depends on the system: X11 counts physical pixels,
// Wayland and macOS logical ones. This file counts physical pixels.
float units_per_logical(GLFWwindow* window) {
    int width = 0, pixels = 0, ignored = 0;
    float scale = 1, ignored_scale = 1;
    glfwGetWindowSize(window, &width, &ignored);
    glfwGetFramebufferSize(window, &pixels, &ignored);
    glfwGetWindowContentScale(window, &scale, &ignored_scale);
    return pixels > 0 ? scale * static_cast<float>(width) / static_cast<float>(pixels) : scale;
}

// On layouts such as AZERTY or QWERTZ, Ctrl+Z is the key that types a z.
int translated(int key, int scancode) {
    if (key < GLFW_KEY_SPACE || key > GLFW_KEY_WORLD_2)
        return key;
    const char* name = glfwGetKeyName(key, scancode);
    return name != nullptr && name[0] >= 'a' && name[0] <= 'z' && name[1] == '\0'
               ? GLFW_KEY_A + (name[0] - 'a')
               : key;
}

// For desktops that do not find the program's .desktop file.
void set_icon(GLFWwindow* window) {
    const std::string png = asset("icon/headscope.png");
    GLFWimage image{};
    const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()), static_cast<int>(png.size()),
                              &image.width, &image.height, nullptr, STBI_rgb_alpha),
        &stbi_image_free);
    image.pixels = pixels.get();
    if (pixels)
        glfwSetWindowIcon(window, 1, &image);
}

/// The position of a window on the desktop, in units of the window system.
struct DesktopPlace {
    bool maximized = false;
    int x = 0, y = 0, width = 0, height = 0;
};

/// Returns the work area of the primary monitor; empty if it is not known.
DesktopPlace work_area() {
    DesktopPlace room;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorWorkarea(monitor, &room.x, &room.y, &room.width, &room.height);
    return room;
}

class Window {
public:
    Window(Ui& ui, const WindowOptions& options) : ui_(ui), options_(options) {
        // Fonts do not need GL: bake them while the driver loads, which takes about as long.
        auto fonts = std::async(std::launch::async, [scale = monitor_scale() * ui.zoom()] {
            auto book = std::make_unique<FontBook>();
            book->refresh(scale);
            return book;
        });
        make_window();
        fonts_ = fonts.get();
        imgui_ = ImGui::CreateContext(&fonts_->atlas());
        ImGui::GetIO().IniFilename = nullptr;
        ImGui_ImplGlfw_InitForOpenGL(window_, false);
        ImGui_ImplOpenGL3_Init("#version 330 core");
        surface_ = std::make_unique<GlSurface>(*fonts_);
        listen();
    }

    ~Window() {
        surface_.reset();
        if (imgui_ != nullptr) {
            ImGui_ImplOpenGL3_Shutdown();
            ImGui_ImplGlfw_Shutdown();
            ImGui::DestroyContext(imgui_);
        }
        glfwDestroyWindow(window_);
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    void run() {
        while (!ui_.quitting()) {
            wait();
            if (glfwWindowShouldClose(window_) == GLFW_TRUE) {
                glfwSetWindowShouldClose(window_, GLFW_FALSE);
                ui_.close();
                touch();
            }
            if (woken.exchange(false))
                touch();
            if (ui_.full_screen() != windowed_.has_value())
                windowed_ ? leave_full_screen() : fill_screen();
            if (due())
                draw();
        }
        remember();
    }

private:
    static Window& of(GLFWwindow* window) { return *static_cast<Window*>(glfwGetWindowUserPointer(window)); }

    void make_window() {
        glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
        glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
        glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
        glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
        glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
        glfwWindowHint(GLFW_AUTO_ICONIFY, GLFW_FALSE); // the user may work on another monitor meanwhile
        const WindowState state = read_window_state(window_state_path());
        glfwWindowHint(GLFW_MAXIMIZED, state.maximized ? GLFW_TRUE : GLFW_FALSE);
        const DesktopPlace room = work_area();
        const float scale = monitor_scale(), room_width = static_cast<float>(room.width) / scale,
                    room_height = static_cast<float>(room.height) / scale;
        const WindowSize size = first_size(state, room_width, room_height);
        title_ = ui_.title();
        // GLFW uses the title for both unless both are set.
        glfwWindowHintString(GLFW_X11_CLASS_NAME, "headscope");
        glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "headscope");
        window_ = glfwCreateWindow(size.width, size.height, title_.c_str(), nullptr, nullptr);
        if (window_ == nullptr)
            throw Error(
                ErrorKind::machine,
                // Translators: {} is nothing, or begins with a space and gives the reason in parentheses
                tr("window.no_window_opened_because_2",
                   "no window can be opened because the graphics driver offers no OpenGL 3.3{}: install or "
                   "update the driver (Debian: libgl1-mesa-dri), or make pictures without one with "
                   "`headscope render`",
                   glfw_reason()));
        set_icon(window_);
        const float units = units_per_logical(window_);
        const WindowSize least = least_size(room_width, room_height);
        glfwSetWindowSizeLimits(window_, static_cast<int>(static_cast<float>(least.width) * units),
                                static_cast<int>(static_cast<float>(least.height) * units), GLFW_DONT_CARE,
                                GLFW_DONT_CARE);
        if (!state.maximized)
            keep_frame_inside(room, scale);
        glfwMakeContextCurrent(window_);
        glfwSwapInterval(1);
    }

    /// Shrinks the window by the size of its frame and title bar if it exceeds the work area.
    void keep_frame_inside(const DesktopPlace& room, float scale) {
        int left = 0, top = 0, right = 0, bottom = 0, width = 0, height = 0;
        glfwGetWindowSize(window_, &width, &height);
        // Ask for the frame only if it matters: a window manager may be slow to answer.
        const auto thickest_frame = static_cast<int>(64 * scale);
        if (room.width <= 0 || room.height <= 0 ||
            (width + thickest_frame <= room.width && height + thickest_frame <= room.height))
            return;
        glfwGetWindowFrameSize(window_, &left, &top, &right, &bottom);
        const int most_width = room.width - left - right, most_height = room.height - top - bottom;
        if (width <= most_width && height <= most_height)
            return;
        width = std::min(width, most_width);
        height = std::min(height, most_height);
        glfwSetWindowSizeLimits(window_, std::min(width, smallest_width), std::min(height, smallest_height),
                                GLFW_DONT_CARE, GLFW_DONT_CARE);
        glfwSetWindowSize(window_, width, height);
        glfwSetWindowPos(window_, room.x + left, room.y + top);
    }

    void listen() {
        glfwSetWindowUserPointer(window_, this);
        glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double x, double y) { of(w).mouse_at(x, y); });
        glfwSetCursorEnterCallback(window_, [](GLFWwindow* w, int entered) {
            if (entered == GLFW_FALSE)
                return of(w).take(MouseLeft{});
            double x = 0, y = 0;
            glfwGetCursorPos(w, &x, &y);
            of(w).mouse_at(x, y);
        });
        glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int button, int action, int) {
            of(w).take(MouseButton{button, action != GLFW_RELEASE});
        });
        glfwSetScrollCallback(window_, [](GLFWwindow* w, double x, double y) {
            of(w).take(MouseScrolled{static_cast<float>(x), static_cast<float>(y)});
        });
        glfwSetKeyCallback(window_, [](GLFWwindow* w, int key, int scancode, int action, int) {
            // ImGui repeats held keys itself.
            if (action != GLFW_REPEAT && key != GLFW_KEY_UNKNOWN)
                of(w).take(KeyChanged{translated(key, scancode), action == GLFW_PRESS});
        });
        glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned int c) {
            of(w).take(CharacterTyped{c});
            of(w).typed_ = true;
        });
        glfwSetWindowFocusCallback(
            window_, [](GLFWwindow* w, int focused) { of(w).take(FocusChanged{focused == GLFW_TRUE}); });
        glfwSetDropCallback(window_, [](GLFWwindow* w, int count, const char** paths) {
            of(w).touch();
            if (of(w).options_.on_drop)
                of(w).options_.on_drop({paths, paths + count});
        });
        glfwSetWindowRefreshCallback(window_, [](GLFWwindow* w) { of(w).picture_lost(); });
        glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* w, int, int) { of(w).picture_lost(); });
        glfwSetWindowContentScaleCallback(window_, [](GLFWwindow* w, float, float) { of(w).touch(); });
    }

    void take(const InputEvent& event) {
        input_.push(event);
        touch();
    }

    void mouse_at(double x, double y) {
        int width = 0, pixels = 0, ignored = 0;
        glfwGetWindowSize(window_, &width, &ignored);
        glfwGetFramebufferSize(window_, &pixels, &ignored);
        const double ratio = width > 0 ? static_cast<double>(pixels) / width : 1;
        take(MouseMoved{static_cast<float>(x * ratio), static_cast<float>(y * ratio)});
    }

    void touch() {
        frames_left_ = frames_shown_after;
        touched_at_ = glfwGetTime();
        paused_ = rested_ = false;
    }

    void picture_lost() {
        surface_->forget_painted();
        touch();
    }

    /// Returns true if the picture is late: a character was typed, or a worker has a result. Such a frame may
    /// be drawn early, but never twice in a row.
    bool urgent() const { return !early_ && (typed_ || woken.load()); }

    bool moving() const {
        return frames_left_ > 0 || !input_.empty() || input_.holding() || ui_.animating() ||
               surface_->incomplete() || (item_active_ && !typing_);
    }

    bool due() const {
        return moving() || (typing_ && glfwGetTime() - drawn_at_ >= blink_time) ||
               seconds_since_start() >= ui_.next_frame_at();
    }

    // Handles events until the next frame may be drawn: at most 60 per second, even if the swap interval has
    // no effect.
    void wait() {
        glfwPollEvents();
        if (!moving()) {
            if (!paused_ && glfwGetTime() - touched_at_ > pause_time)
                pause();
            if (!rested_ && glfwGetTime() - touched_at_ > rest_time) {
                rested_ = true;
                release_free_buffers();
            }
            glfwWaitEventsTimeout(typing_ ? blink_time : idle_time);
            return;
        }
        double rest = drawn_at_ + frame_time - glfwGetTime();
        for (; rest > 0.0005 && !urgent(); rest = drawn_at_ + frame_time - glfwGetTime())
            glfwWaitEventsTimeout(rest);
        early_ = rest > 0.0005;
        typed_ = false;
    }

    void draw() {
        drawn_at_ = glfwGetTime();
        int width = 0, height = 0;
        glfwGetFramebufferSize(window_, &width, &height);
        frames_left_ = std::max(0, frames_left_ - 1);
        if (width <= 0 || height <= 0) { // minimized
            frames_left_ = 0;
            glfwWaitEventsTimeout(idle_time);
            return;
        }
        float scale = 1, ignored = 1;
        glfwGetWindowContentScale(window_, &scale, &ignored);
        if (const char32_t typed = options_.typed ? options_.typed() : 0; typed != 0)
            take(CharacterTyped{typed});
        {
            const ImGuiLock turn;
            ImGui_ImplGlfw_NewFrame();
            const auto build = [&](const std::function<void()>& fill_input) {
                surface_->build(ui_, width, height, scale, seconds_since_start(), fill_input);
            };
            build([&] {
                update_want_text_input();
                if (!input_.empty()) // the effect of an event may show some frames later
                    frames_left_ = frames_shown_after;
                input_.apply(ImGui::GetIO());
            });
            constexpr std::chrono::milliseconds worth_waiting(3); // a small part of the time to draw a frame
            if (ui_.wait_for_results(worth_waiting))
                build([] { ImGui::GetIO().DeltaTime = no_time; });
            item_active_ = ImGui::IsAnyItemActive();
            typing_ = item_active_ && ImGui::GetIO().WantTextInput;
        }
        if (!ui_.keeps_previous_frame() && surface_->changed(ui_.background())) {
            surface_->paint(ui_.background());
            glfwSwapBuffers(window_);
        }
        if (const std::string title = ui_.title(); title != title_) {
            title_ = title;
            glfwSetWindowTitle(window_, title.c_str());
        }
        if (!shown_)
            show();
        if (options_.on_frame)
            options_.on_frame(surface_->scale());
    }

    // Shows the window with its first picture in it instead of black.
    void show() {
        shown_ = true;
        glfwShowWindow(window_);
        glfwSwapBuffers(window_);
        touch();
        if (options_.on_first_frame)
            options_.on_first_frame(seconds_since_start() * 1000);
    }

    DesktopPlace place() const {
        DesktopPlace now{.maximized = glfwGetWindowAttrib(window_, GLFW_MAXIMIZED) == GLFW_TRUE};
        glfwGetWindowPos(window_, &now.x, &now.y);
        glfwGetWindowSize(window_, &now.width, &now.height);
        return now;
    }

    /// Fills the monitor that shows most of the window, without a change of the resolution.
    void fill_screen() {
        const DesktopPlace now = place();
        int count = 0, most = -1;
        GLFWmonitor** const monitors = glfwGetMonitors(&count);
        GLFWmonitor* best = nullptr;
        for (int i = 0; i < count; ++i) {
            const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
            int x = 0, y = 0;
            glfwGetMonitorPos(monitors[i], &x, &y);
            const auto shared = [](int a, int a_size, int b, int b_size) {
                return std::max(0, std::min(a + a_size, b + b_size) - std::max(a, b));
            };
            const int area =
                shared(now.x, now.width, x, mode->width) * shared(now.y, now.height, y, mode->height);
            if (area > most) {
                most = area;
                best = monitors[i];
            }
        }
        windowed_ = now;
        if (best == nullptr)
            return;
        const GLFWvidmode* mode = glfwGetVideoMode(best);
        glfwSetWindowMonitor(window_, best, 0, 0, mode->width, mode->height, mode->refreshRate);
        touch();
    }

    void leave_full_screen() {
        glfwSetWindowMonitor(window_, nullptr, windowed_->x, windowed_->y, windowed_->width,
                             windowed_->height, GLFW_DONT_CARE);
        if (windowed_->maximized)
            glfwMaximizeWindow(window_);
        windowed_.reset();
        touch();
    }

    // The end of the desktop session or a signal ends the program without notice: save its state before.
    void pause() {
        paused_ = true;
        remember();
        if (options_.on_pause)
            options_.on_pause();
    }

    void remember() const {
        const WindowState before = read_window_state(window_state_path());
        WindowState state = before;
        const DesktopPlace last = windowed_.value_or(place());
        state.maximized = last.maximized;
        if (!state.maximized) { // otherwise keep the stored size, to return to
            const float units = units_per_logical(window_);
            state.width = static_cast<int>(std::lround(static_cast<float>(last.width) / units));
            state.height = static_cast<int>(std::lround(static_cast<float>(last.height) / units));
        }
        if (state != before)
            write_window_state(window_state_path(), state);
    }

    Ui& ui_;
    const WindowOptions& options_;
    GLFWwindow* window_ = nullptr;
    std::unique_ptr<FontBook> fonts_;
    ImGuiContext* imgui_ = nullptr;
    std::unique_ptr<GlSurface> surface_;
    InputQueue input_;
    std::string title_;
    int frames_left_ = frames_shown_after;
    double drawn_at_ = -1, touched_at_ = 0;
    std::optional<DesktopPlace> windowed_; ///< position before full screen, to return to
    bool item_active_ = false, typing_ = false, shown_ = false;
    bool typed_ = false; ///< a character was typed since the last frame
    bool early_ = false; ///< the last frame was early
    bool paused_ = false, rested_ = false;
};

} // namespace

int run_window(Ui& ui, const WindowOptions& options) {
    const Glfw glfw;
    Window(ui, options).run();
    return 0;
}

void wake_window() {
    woken.store(true);
    const std::lock_guard lock(open_mutex);
    if (open)
        glfwPostEmptyEvent();
}

} // namespace headscope::app
