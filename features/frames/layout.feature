Feature: The bytes of a frame
  A frame is a length, a flag and a body; a body is version, command, id, queue, payload and headers. All numbers are unsigned,
  the most significant byte first; every text is UTF-8 behind its length in bytes.

  @FRAME-001 @FRAME-002 @BODY-001 @BODY-002 @BODY-004 @BODY-006 @BODY-013 @BODY-043
  Scenario: A Ping and its Pong
    Given the client has opened a connection
    When the client sends these bytes:
      | 00 00 00 0e | the body has 14 bytes |
      | 00          | not compressed        |
      | 01          | version 1             |
      | 0a          | Ping                  |
      | 00 02 70 31 | id "p1"               |
      | 00 00       | no queue              |
      | 00 00 00 00 | no payload            |
      | 00 00       | no headers            |
    Then the client receives a frame of these bytes:
      | 00 00 00 0e | the body has 14 bytes |
      | 00          | not compressed        |
      | 01          | version 1             |
      | 0b          | Pong                  |
      | 00 02 70 31 | id "p1"               |
      | 00 00       | no queue              |
      | 00 00 00 00 | no payload            |
      | 00 00       | no headers            |

  @BODY-001 @BODY-003 @BODY-007 @BODY-008 @BODY-013 @BODY-043 @DELIVERY-054
  Scenario: A Publish and its Deliver
    Given the client has opened a connection
    When the client sends these bytes:
      | 00 00 00 0d 00 01 00 00 01 63 00 00 00 00 00 00 00 00 | Connect                |
      | 00 00 00 13 00                                        | 19 bytes follow        |
      | 01 16 00 01 73                                        | Subscribe, id "s"      |
      | 00 06 6c 61 79 6f 75 74                               | queue "layout"         |
      | 00 00 00 00 00 00                                     | no payload, no headers |
    And the client sends these bytes:
      | 00 00 00 1f 00                         | 31 bytes follow        |
      | 01 14 00 02 6d 31                      | Publish, id "m1"       |
      | 00 06 6c 61 79 6f 75 74                | queue "layout"         |
      | 00 00 00 04 22 c3 bc 22                | payload "ü" in quotes  |
      | 00 01 00 01 61 00 02 c3 a9             | one header, a: é       |
    Then the client receives a frame of these bytes:
      | 00 00 00 13 00                         | 19 bytes follow        |
      | 01 17 00 01 73                         | SubscribeAck, id "s"   |
      | 00 06 6c 61 79 6f 75 74                | queue "layout"         |
      | 00 00 00 00 00 00                      | no payload, no headers |
    And the client receives a frame of these bytes:
      | 00 00 00 14 00                         | 20 bytes follow        |
      | 01 15 00 02 6d 31                      | PublishAck, id "m1"    |
      | 00 06 6c 61 79 6f 75 74                | queue "layout"         |
      | 00 00 00 00 00 00                      | no payload, no headers |
    And the client receives a frame of these bytes:
      | 00 00 00 1f 00                         | 31 bytes follow        |
      | 01 1a 00 02 6d 31                      | Deliver, id "m1"       |
      | 00 06 6c 61 79 6f 75 74                | queue "layout"         |
      | 00 00 00 04 22 c3 bc 22                | payload "ü" in quotes  |
      | 00 01 00 01 61 00 02 c3 a9             | one header, a: é       |

  @BODY-010 @ERROR-002
  Scenario: An Error contains its code and its text after the headers
    Given the client is connected
    When the client sends a Publish with id "m1"
    Then the client receives a frame that begins with these bytes after its length:
      | 00                                              | not compressed         |
      | 01 63 00 02 6d 31                               | Error, id "m1"         |
      | 00 00                                           | no queue               |
      | 00 00 00 00 00 00                               | no payload, no headers |
      | 00 0d 49 4e 56 41 4c 49 44 5f 51 55 45 55 45    | INVALID_QUEUE          |
