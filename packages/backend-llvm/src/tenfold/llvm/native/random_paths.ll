; The call paths of `rand` and `randn`: a few sizes by position, float32, on the CPU, from the process's default generator. What
; is drawn is read from its fields and from its engine's state; draws.py says where they lie.

declare ptr @PyFloat_FromDouble(double)

declare double @libm_log1p(double)

define internal i1 @engine_is_known() {
entry:
  %generator = load ptr, ptr @d_generator
  %engine = call ptr @field(ptr %generator, ptr @d_engine_at)
  %known = load ptr, ptr @d_engine
  %same = icmp eq ptr %engine, %known
  %ahead = call ptr @field(ptr %generator, ptr @d_ahead_at)
  %None = load ptr, ptr @g_None
  %no_ahead = icmp eq ptr %ahead, %None
  %is = and i1 %same, %no_ahead
  ret i1 %is
}

; Normals one by one, as PyTorch makes fewer than 16; the second of a pair that is not used up waits in the generator.
define internal i1 @few_normals(ptr %generator, ptr %state, ptr %data, i64 %count) {
entry:
  %words = alloca [32 x i64], align 64
  %None = load ptr, ptr @g_None
  %kept = call ptr @field(ptr %generator, ptr @d_normal_at)
  %waits = icmp ne ptr %kept, %None
  br i1 %waits, label %use, label %begin
use:
  %kept_at = getelementptr i8, ptr %kept, i64 16
  %kept_value = load double, ptr %kept_at
  %kept_narrow = fptrunc double %kept_value to float
  store float %kept_narrow, ptr %data
  call void @Py_IncRef(ptr %None)
  call void @replace(ptr %generator, ptr @d_normal_at, ptr %None)
  br label %begin
begin:
  %first = phi i64 [0, %entry], [1, %use]
  %missing = sub i64 %count, %first
  %up = add i64 %missing, 1
  %pairs = lshr i64 %up, 1
  %wanted = shl i64 %pairs, 2
  call void @draw_words(ptr %state, ptr %words, i64 %wanted)
  br label %look
look:
  %k = phi i64 [0, %begin], [%knext, %both]
  %i = phi i64 [%first, %begin], [%inext, %both]
  %end = icmp eq i64 %k, %pairs
  br i1 %end, label %done, label %one
one:
  %k2 = shl i64 %k, 1
  %turn_word = call i64 @word(ptr %words, i64 %k2)
  %k3 = add i64 %k2, 1
  %height_word = call i64 @word(ptr %words, i64 %k3)
  %turn = call double @unit64(i64 %turn_word)
  %height = call double @unit64(i64 %height_word)
  %minus = fneg double %height
  %log = call double @libm_log1p(double %minus)
  %twice = fmul double %log, -2.0
  %made = call {double, double} @pair(double %twice, double %turn)
  %a = extractvalue {double, double} %made, 0
  %b = extractvalue {double, double} %made, 1
  %a_narrow = fptrunc double %a to float
  %b_narrow = fptrunc double %b to float
  %p = getelementptr float, ptr %data, i64 %i
  store float %a_narrow, ptr %p
  %i1 = add i64 %i, 1
  %inext = add i64 %i, 2
  %knext = add i64 %k, 1
  %room = icmp slt i64 %i1, %count
  br i1 %room, label %both, label %keep
both:
  %q = getelementptr float, ptr %data, i64 %i1
  store float %b_narrow, ptr %q
  br label %look
keep:
  %number = call ptr @PyFloat_FromDouble(double %b)
  %lost = icmp eq ptr %number, null
  br i1 %lost, label %fail, label %put
put:
  call void @replace(ptr %generator, ptr @d_normal_at, ptr %number)
  br label %done
done:
  ret i1 true
fail:
  ret i1 false
}

define ptr @draw_path(i64 %normal, ptr %function, ptr %args, i64 %nargsf, ptr %names) {
entry:
  %shape = alloca [8 x i64]
  %count_is = alloca i64
  %n = and i64 %nargsf, 9223372036854775807
  %flags = load ptr, ptr @p_flags
  %transforms = call i64 @word(ptr %flags, i64 3)
  %usual = icmp eq i64 %transforms, 0
  br i1 %usual, label %size, label %slow
size:
  %rank = call i64 @plain_size(ptr %args, i64 %n, ptr %names, ptr %shape, ptr %count_is)
  %unfit = icmp slt i64 %rank, 0
  br i1 %unfit, label %slow, label %source
clear:
  call void @forget()
  br label %slow
source:
  %generator = load ptr, ptr @d_generator
  %known = call i1 @engine_is_known()
  br i1 %known, label %ready, label %look
look:
  %looker = load ptr, ptr @d_look
  %seen = call ptr @PyObject_Vectorcall(ptr %looker, ptr null, i64 0, ptr null)
  %failed = icmp eq ptr %seen, null
  br i1 %failed, label %clear, label %looked
looked:
  call void @Py_DecRef(ptr %seen)
  %known_now = call i1 @engine_is_known()
  br i1 %known_now, label %ready, label %slow
ready:
  %count = load i64, ptr %count_is
  %owner_at = load i64, ptr @d_owner
  %owner_p = inttoptr i64 %owner_at to ptr
  %owner = load i64, ptr %owner_p
  %unlocked = icmp eq i64 %owner, 0
  br i1 %unlocked, label %make, label %slow
make:
  %Array = load ptr, ptr @g_ndarray
  %F32 = load ptr, ptr @p_float32
  %rank32 = trunc i64 %rank to i32
  call void @Py_IncRef(ptr %F32)
  %array = call ptr @PyArray_NewFromDescr(ptr %Array, ptr %F32, i32 %rank32, ptr %shape, ptr null, ptr null, i32 0, ptr null)
  %lost = icmp eq ptr %array, null
  br i1 %lost, label %fail, label %draw
draw:
  %state_at = load i64, ptr @d_words
  %state = inttoptr i64 %state_at to ptr
  %data = call ptr @at(ptr %array, i64 16)
  %is_normal = icmp ne i64 %normal, 0
  %is_few = icmp slt i64 %count, 16
  %one_by_one = and i1 %is_normal, %is_few
  br i1 %one_by_one, label %few, label %many
few:
  %done = call i1 @few_normals(ptr %generator, ptr %state, ptr %data, i64 %count)
  br i1 %done, label %note, label %drop
many:
  %kind = select i1 %is_normal, i64 3, i64 1
  call void @draw_kind(i64 %kind, ptr %state, ptr %data, i64 %count)
  br label %note
note:  ; what the generator knows of its engine's place
  %position_p = getelementptr i8, ptr %state, i64 2496
  %position32 = load i32, ptr %position_p
  %end = icmp eq i32 %position32, 624
  %place32 = select i1 %end, i32 0, i32 %position32
  %place = sext i32 %place32 to i64
  %number = call ptr @PyLong_FromSsize_t(i64 %place)
  %no_number = icmp eq ptr %number, null
  br i1 %no_number, label %drop, label %noted
noted:
  call void @replace(ptr %generator, ptr @d_position_at, ptr %number)
  %False = load ptr, ptr @g_False
  call void @Py_IncRef(ptr %False)
  call void @replace(ptr %generator, ptr @d_fresh_at, ptr %False)
  %tensor = call ptr @new_tensor(ptr %array)
  ret ptr %tensor
drop:
  call void @Py_DecRef(ptr %array)
  br label %fail
fail:
  ret ptr null
slow:
  %usual_way = call ptr @in_python(ptr %function, ptr %args, i64 %nargsf, ptr %names)
  ret ptr %usual_way
}
