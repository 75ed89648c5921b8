; How many bytes lie between the beginnings of two arrays, which costs a microsecond for each to ask in Python.

declare ptr @PyLong_FromSsize_t(i64)

define ptr @distance(ptr %self, ptr %args, i64 %n) {
entry:
  %pair = icmp eq i64 %n, 2
  br i1 %pair, label %look, label %wrong
look:
  %Array = load ptr, ptr @g_ndarray
  %a = call ptr @pointer(ptr %args, i64 0)
  %b = call ptr @pointer(ptr %args, i64 1)
  %a_type = call ptr @at(ptr %a, i64 8)
  %b_type = call ptr @at(ptr %b, i64 8)
  %a_is = icmp eq ptr %a_type, %Array
  %b_is = icmp eq ptr %b_type, %Array
  %arrays = and i1 %a_is, %b_is
  br i1 %arrays, label %measure, label %wrong
measure:
  %a_data = call i64 @word(ptr %a, i64 2)
  %b_data = call i64 @word(ptr %b, i64 2)
  %bytes = sub i64 %a_data, %b_data
  %number = call ptr @PyLong_FromSsize_t(i64 %bytes)
  ret ptr %number
wrong:
  %TypeError = load ptr, ptr @g_TypeError
  call void @PyErr_SetString(ptr %TypeError, ptr @distance_words)
  ret ptr null
}
@distance_words = private constant [32 x i8] c"distance(): expected two arrays\00"
