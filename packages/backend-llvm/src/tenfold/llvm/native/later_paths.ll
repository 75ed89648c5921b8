; The call paths among the functions of later.ll: what writes at places and compares, and what draws a few numbers.

@later_scatter_path = global ptr null
@later_equal_path = global ptr null
@later_draw_path = global ptr null
@m_places = global ptr null
@m_draws = global ptr null
@g_int64 = global ptr null

; The loops of places.py, which are compiled when the first of them is needed, by the function in @l_load.
@l_load = global ptr null
@l_places_fit = global ptr null
@l_equal_float = global ptr null
@l_equal_double = global ptr null
@l_equal_i64 = global ptr null
@l_scatter_set4 = global ptr null
@l_scatter_set8 = global ptr null
@l_scatter_add_float = global ptr null
@l_slices_add_float = global ptr null
@l_scatter_add_double = global ptr null
@l_slices_add_double = global ptr null
@l_scatter_add_i64 = global ptr null
@l_slices_add_i64 = global ptr null

; Those that draw.
@d_generator = global ptr null  ; the default generator
@d_engine = global ptr null     ; its engine, when it was last looked at
@d_words = global i64 0         ; where that engine's state lies
@d_owner = global i64 0         ; where the lock of all generators notes who holds it
@d_look = global ptr null       ; a function that looks at the generator again
; Where the generator's fields lie.
@d_engine_at = global i64 0
@d_ahead_at = global i64 0
@d_normal_at = global i64 0
@d_fresh_at = global i64 0
@d_position_at = global i64 0

define internal ptr @places_path(ptr %place, ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %path = call ptr @later(ptr %place, ptr @m_places)
  %none = icmp eq ptr %path, null
  br i1 %none, label %slow, label %go
go:
  %made = tail call ptr %path(ptr %words, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %made
slow:
  %usual_way = tail call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

define internal ptr @draws_path(i64 %normal, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %path = call ptr @later(ptr @later_draw_path, ptr @m_draws)
  %none = icmp eq ptr %path, null
  br i1 %none, label %slow, label %go
go:
  %made = tail call ptr %path(i64 %normal, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %made
slow:
  %usual_way = tail call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}

define ptr @path_rand(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @draws_path(i64 0, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}

define ptr @path_randn(ptr %function, ptr %args, i64 %nargsf, ptr %names) {
  %r = tail call ptr @draws_path(i64 1, ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %r
}
